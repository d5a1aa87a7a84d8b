import {
  createLocalJWKSet,
  decodeProtectedHeader,
  type JSONWebKeySet,
  type JWTPayload,
  jwtVerify,
} from 'jose';

/** When a key was first and last published, and when it first and last signed, by the test's clock, ms. */
export interface SeenKey {
  readonly published: number;
  readonly lastPublished: number;
  readonly signed?: number;
  readonly lastSigned?: number;
}

/** Watches what gateways publish, and what they sign with. */
export class KeyWatch {
  readonly #seen = new Map<string, SeenKey>();

  published({ keys }: JSONWebKeySet, at: number): void {
    for (const { kid } of keys) this.#note(kid!, at, { lastPublished: at });
  }

  signed(token: string, at: number): void {
    const kid = decodeProtectedHeader(token).kid!;
    this.#note(kid, at, { signed: this.#seen.get(kid)?.signed ?? at, lastSigned: at });
  }

  /** Those that have signed, in the order in which they were published. */
  used(): readonly SeenKey[] {
    return [...this.#seen.values()]
      .filter(({ signed }) => signed !== undefined)
      .sort((one, other) => one.published - other.published);
  }

  #note(kid: string, at: number, more: Partial<SeenKey>): void {
    const known = this.#seen.get(kid) ?? { published: at, lastPublished: at };
    this.#seen.set(kid, { ...known, ...more });
  }
}

/** A service's copy of the published keys, as old as it may be; it isn't looked up again for an unknown key. */
export class KeyCopy {
  readonly #load: () => Promise<JSONWebKeySet>;
  readonly #maxAgeMs: number;
  #keys: Promise<JSONWebKeySet> | undefined;
  #loadedAt = 0;

  constructor(load: () => Promise<JSONWebKeySet>, maxAgeMs: number) {
    this.#load = load;
    this.#maxAgeMs = maxAgeMs;
  }

  /** The claims of a token; throws when it is refused at that time, epoch ms. */
  async verify(token: string, now: number): Promise<JWTPayload> {
    if (this.#keys === undefined || now - this.#loadedAt >= this.#maxAgeMs) {
      this.#loadedAt = now;
      this.#keys = this.#load();
    }
    const keys = createLocalJWKSet(await this.#keys);
    return (await jwtVerify(token, keys, { currentDate: new Date(now) })).payload;
  }
}
