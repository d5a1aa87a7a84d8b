import type { Records } from '../stores/records.ts';
import { timedOut } from '../stores/remote/breaker.ts';
import { within } from '../stores/remote/timeout.ts';

/** Maximum time that reading a change may delay a request, ms. */
const catchUpMs = 250;

/** Every prefix that a key in the records ever had, as this process knows them: another process may mint with a new one. */
export class KeyPrefixes {
  readonly #records: Pick<Records, 'apiKeyPrefixes' | 'version'>;
  #known: ReadonlySet<string> = new Set();
  #seenVersion: number | null = null;
  #reading: Promise<void> | null = null;

  constructor(records: Pick<Records, 'apiKeyPrefixes' | 'version'>) {
    this.#records = records;
  }

  has(prefix: string): boolean {
    return this.#known.has(prefix);
  }

  /** Reads the prefixes. Rejects with `store_unavailable`. */
  async read(): Promise<void> {
    const version = this.#records.version();
    this.#note(await this.#records.apiKeyPrefixes(), version);
  }

  /**
   * Reads the prefixes if the records have changed since the last reading; null: there is nothing to wait for. If the store
   * doesn't respond soon, the known prefixes stay in use.
   */
  catchUp(): Promise<void> | null {
    try {
      const version = this.#records.version();
      if (version === this.#seenVersion) return null;
      // A reading that is under way may have begun before the change.
      const reading =
        this.#reading === null
          ? this.#begin()
          : this.#reading.then(() => (version === this.#seenVersion ? null : this.#begin()));
      return reading && within(catchUpMs, reading.then(nothing), timedOut).catch(nothing);
    } catch {
      return null;
    }
  }

  /** Joins the reading that is under way, or begins one; null: the store has responded at once. */
  #begin(): Promise<void> | null {
    if (this.#reading !== null) return this.#reading;
    const version = this.#records.version();
    const found = this.#records.apiKeyPrefixes();
    if (!(found instanceof Promise)) {
      this.#note(found, version);
      return null;
    }
    this.#reading = found
      .then((prefixes) => this.#note(prefixes, version))
      .finally(() => {
        this.#reading = null;
      });
    return this.#reading;
  }

  #note(prefixes: readonly string[], version: number): void {
    this.#known = new Set(prefixes);
    this.#seenVersion = version;
  }
}

function nothing(): void {}
