import { RecentCache } from '../recent-cache.ts';
import { originOf } from '../session-origin.ts';
import type { LiveSession } from '../sessions.ts';
import { type Connection, createVersion } from './connection.ts';
import type { LiveRow, SessionStatements } from './session-statements.ts';

/** Number of recent sessions kept in the cache, which grows to at most twice as many: a few megabytes. */
const cacheSize = 10_000;

/** Sessions as last read from the file; the cache is dropped whenever another process has committed. */
export class LiveSessions {
  readonly #connection: Connection;
  readonly #byId: SessionStatements['liveById'];
  readonly #version: () => number;
  readonly #cache = new RecentCache<LiveSession>(cacheSize);
  #cachedVersion: number;

  /** `staleIfErrorMs` is the time for which cached sessions count while the file can't be read, ms. */
  constructor(connection: Connection, { liveById }: SessionStatements, staleIfErrorMs: () => number) {
    this.#connection = connection;
    this.#byId = liveById;
    this.#version = createVersion(connection, staleIfErrorMs);
    this.#cachedVersion = this.#version();
  }

  /** Finds a session, which may have expired. Throws `store_unavailable`. */
  find(id: string): LiveSession | undefined {
    const version = this.#version();
    if (version !== this.#cachedVersion) {
      this.#cache.clear();
      this.#cachedVersion = version;
    }
    return this.#cache.get(id) ?? this.#read(id);
  }

  /** Drops a session from the cache; called within every write that changes or ends it. */
  delete(id: string): void {
    this.#cache.delete(id);
  }

  #read(id: string): LiveSession | undefined {
    const row = this.#connection.read(() => this.#byId.get(id));
    if (row === undefined) return undefined;
    const session = toLiveSession(row);
    this.#cache.set(id, session);
    return session;
  }
}

function toLiveSession(row: LiveRow): LiveSession {
  const { id, userId, expires, epoch, isRestricted, sealedClaims, ...begun } = row;
  const { method, providerIssuer: issuer, providerSubject: subject } = begun;
  const provider = issuer === null || subject === null ? null : { issuer, subject };
  return {
    id,
    userId,
    expires,
    epoch,
    isRestricted: isRestricted === 1,
    origin: originOf({ method, provider }),
    sealedClaims,
  };
}
