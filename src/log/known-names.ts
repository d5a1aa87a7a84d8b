/** Maximum number of names that are kept. */
const maxNames = 1_000;

/** Names of users by id, as the events of a log mention them. */
export class KnownNames {
  readonly #names = new Map<string, string>();

  /** Keeps names; beyond the maximum the one learned first goes. */
  learn(names: Readonly<Record<string, string>> = {}): void {
    for (const [id, name] of Object.entries(names)) {
      this.#names.delete(id);
      this.#names.set(id, name);
      const [oldest] = this.#names.keys();
      if (this.#names.size > maxNames && oldest !== undefined) this.#names.delete(oldest);
    }
  }

  /** The name of a user, or the id if no event has mentioned the name. */
  of(id: string): string {
    return this.#names.get(id) ?? id;
  }
}
