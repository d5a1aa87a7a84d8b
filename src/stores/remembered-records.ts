import { LRUCache } from 'lru-cache';
import { Refusal } from '../errors.ts';
import { createBreaker, isUnavailable } from './breaker.ts';
import type { ChangeFeed, RecordsChange } from './change-feed.ts';
import type { ApiKeyWithOwner, Awaitable, Records, UserWithSets } from './records.ts';
import { resultOrKnown } from './timeout.ts';
import { type Call, wrapCalls } from './wrap-calls.ts';

/** A records store that has to be asked over the network, and remembers nothing. */
export type RemoteRecords = Omit<Records, 'version'>;

export interface RememberedRecordsOptions {
  readonly remote: RemoteRecords;
  readonly feed: ChangeFeed;
  /** How long what was seen counts while the store is away, ms. */
  readonly staleIfErrorMs: number;
  /** A clock as `performance.now()`, which is the default. */
  readonly elapsed?: () => number;
}

/** Something the store said; undefined is a response, too. */
interface Seen<T> {
  readonly value: T | undefined;
  /** When the question was sent, as by `performance.now()`. */
  readonly at: number;
}

/** A question that is under way, and what has been changed since it was asked. */
interface Question {
  readonly changes: (RecordsChange | null)[];
  result?: Promise<unknown>;
}

/** What is done with a response. */
interface Memory<T> {
  /** Whether the change may be of what was answered. */
  isTouched(value: T | undefined, change: RecordsChange): boolean;
  remember(seen: Seen<T>): void;
}

/** How many keys and users are remembered (some 20 MB), and how many unknown keys. */
const memorySize = 20_000;
const unknownSize = 5_000;
/** How long an unknown key counts as unknown, ms. */
const unknownAgeMs = 2_000;
/**
 * How long the feed may have been silent before it is not trusted, and how long a response is trusted without it, ms: with
 * what passes until open streams are looked at (400 ms) either keeps a change made elsewhere well within the promised
 * second.
 */
const silenceMs = 400;
const unsubscribedTrustMs = 300;
/**
 * How long the version stays while nobody tells of changes, ms. What rests on it is as old as the response it was made of,
 * and this much older at the end.
 */
const unsubscribedVersionMs = 250;
/**
 * How long a reader waits for the store, ms: less where something is known to go by, because whoever writes with that
 * credential has then to be answered within two seconds, too.
 */
const readTimeoutMs = 1_000;
const knownTimeoutMs = 400;
/** What is asked whether the store is known to be away or not. */
const always: ReadonlySet<keyof RemoteRecords> = new Set(['noteUse', 'ping', 'backup', 'close']);

/** A key that was not found may have been made since, or be one that nobody can tell by its hash. */
function isKeyTouched(found: ApiKeyWithOwner | undefined, change: RecordsChange): boolean {
  if (found === undefined) return true;
  return change.keys.includes(found.key.id) || change.users.includes(found.key.createdBy);
}

/**
 * Remembers what a remote store said of keys and users: forgotten as soon as the feed tells of a change, trusted for a
 * moment while it can't be heard, and good for `staleIfErrorMs` while the store is away.
 */
export function createRememberedRecords(options: RememberedRecordsOptions): Records {
  const { remote, feed, staleIfErrorMs } = options;
  const elapsed = options.elapsed ?? (() => performance.now());
  const keys = new LRUCache<string, Seen<ApiKeyWithOwner>>({ max: memorySize });
  const hashOfKey = new LRUCache<string, string>({ max: memorySize });
  const unknownKeys = new LRUCache<string, Seen<ApiKeyWithOwner>>({ max: unknownSize });
  const users = new LRUCache<string, Seen<UserWithSets>>({ max: memorySize });
  /** The newest of each name, and all. */
  const underway = new Map<string, Question>();
  const questions = new Set<Question>();
  const breaker = createBreaker({ timeoutMs: readTimeoutMs, elapsed });
  /** Changes that were told of, and how often anything may have been changed that was not. */
  let changes = 0;
  let looks = 0;
  let checkedAt = elapsed();
  /** When the last question was sent that was answered. */
  let lastResultAt = Number.NEGATIVE_INFINITY;

  feed.onChange(forget);

  function forget(change: RecordsChange | null): void {
    changes += 1;
    unknownKeys.clear();
    for (const question of questions) question.changes.push(change);
    if (change === null) {
      keys.clear();
      users.clear();
      return;
    }
    for (const id of change.keys) {
      const hash = hashOfKey.get(id);
      if (hash !== undefined) keys.delete(hash);
    }
    if (change.users.length === 0) return;
    const changed = new Set(change.users);
    for (const id of changed) users.delete(id);
    for (const [hash, { value }] of keys.entries())
      if (value !== undefined && changed.has(value.key.createdBy)) keys.delete(hash);
  }

  function isSubscribed(now: number): boolean {
    return now - feed.notifiedUntil < silenceMs;
  }

  /** What is remembered was true when it was asked for, and for as long as every change has been heard since. */
  function ageOf({ at }: Seen<unknown>, now: number): number {
    return now - Math.max(at, feed.notifiedUntil);
  }

  function trusted<T>(seen: Seen<T> | undefined, now: number): Seen<T> | undefined {
    if (seen === undefined) return undefined;
    return isSubscribed(now) || now - seen.at < unsubscribedTrustMs ? seen : undefined;
  }

  /** A response from memory, where `look` finds it, or else the store's. */
  function recall<T>(
    name: string,
    look: () => Seen<T> | undefined,
    ask: () => Awaitable<T | undefined>,
    memory: Memory<T>,
  ): Awaitable<T | undefined> {
    const now = elapsed();
    const good = trusted(look(), now);
    if (good !== undefined) return good.value;
    /** What counts while the store is away: looked for anew, for it may have been forgotten meanwhile. */
    const known = () => {
      const seen = look();
      return seen?.value !== undefined && ageOf(seen, elapsed()) < staleIfErrorMs ? seen : undefined;
    };
    const knownInstead = (error: unknown): T | undefined => {
      const found = isUnavailable(error) ? known() : undefined;
      if (found === undefined) throw error;
      return found.value;
    };
    const isKnown = known() !== undefined;
    if (breaker.isResting() || (breaker.isOpen() && isKnown))
      return knownInstead(new Refusal('store_unavailable'));
    const result = askOnce(name, ask, memory).catch(knownInstead);
    return isKnown ? resultOrKnown(result, knownTimeoutMs, known) : result;
  }

  /** Parallel questions are one, but one from before a change may be answered as of before it. */
  function askOnce<T>(
    name: string,
    ask: () => Awaitable<T | undefined>,
    { isTouched, remember }: Memory<T>,
  ): Promise<T | undefined> {
    const at = elapsed();
    const asked = underway.get(name);
    if (asked?.changes.length === 0) return asked.result as Promise<T | undefined>;
    const question: Question = { changes: [] };
    const result = breaker
      .run(async () => ask())
      .then((value) => {
        lastResultAt = Math.max(lastResultAt, at);
        // Told of its change meanwhile, nobody knows which of the two came first: it is not remembered.
        if (!question.changes.some((change) => change === null || isTouched(value, change)))
          remember({ value, at });
        return value;
      })
      .finally(() => {
        questions.delete(question);
        if (underway.get(name) === question) underway.delete(name);
      });
    question.result = result;
    questions.add(question);
    underway.set(name, question);
    return result;
  }

  function rememberKey(hash: string, seen: Seen<ApiKeyWithOwner>): void {
    if (seen.value === undefined) {
      keys.delete(hash);
      unknownKeys.set(hash, seen);
      return;
    }
    keys.set(hash, seen);
    hashOfKey.set(seen.value.key.id, hash);
  }

  /** Whoever gets here has waited for the store once already, or another request has. */
  function requireThere(): void {
    if (breaker.isResting()) throw new Refusal('store_unavailable');
  }

  function guarded(call: Call): Call {
    return async (...given) => {
      requireThere();
      return call(...given);
    };
  }

  /** A change of our own counts here before anybody is told of it; one that failed may have been made all the same. */
  async function changing<T>(
    what: (result: T | undefined) => RecordsChange | null,
    write: () => Promise<T>,
  ): Promise<T> {
    requireThere();
    let result: T | undefined;
    try {
      result = await write();
      return result;
    } finally {
      forget(what(result));
    }
  }

  function changingUser<T>(id: string, write: () => Promise<T>): Promise<T> {
    return changing(() => ({ keys: [], users: [id] }), write);
  }

  return {
    ...wrapCalls(remote, (call, name) => (always.has(name) ? call : guarded(call))),
    version() {
      const now = elapsed();
      if (isSubscribed(now)) return changes + looks;
      const thereAt = Math.max(feed.notifiedUntil, lastResultAt);
      if (now - thereAt >= Math.max(staleIfErrorMs, unsubscribedTrustMs) && breaker.isOpen())
        throw new Refusal('store_unavailable');
      // Nobody tells of changes: what rests on this number is looked at anew at short intervals.
      if (now - checkedAt >= unsubscribedVersionMs) {
        checkedAt = now;
        looks += 1;
      }
      return changes + looks;
    },
    findApiKeyByHash(hash) {
      const name = Buffer.from(hash).toString('base64url');
      const unknown = unknownKeys.get(name);
      if (unknown !== undefined && elapsed() - unknown.at < unknownAgeMs) {
        if (trusted(unknown, elapsed()) !== undefined) return undefined;
      }
      return recall(
        `key ${name}`,
        () => keys.get(name),
        () => remote.findApiKeyByHash(hash),
        { isTouched: isKeyTouched, remember: (seen) => rememberKey(name, seen) },
      );
    },
    findApiKey(id) {
      const hash = hashOfKey.get(id);
      return recall(
        `id ${id}`,
        () => (hash === undefined ? undefined : keys.get(hash)),
        () => remote.findApiKey(id),
        {
          isTouched: isKeyTouched,
          remember(again) {
            if (hash !== undefined) rememberKey(hash, again);
          },
        },
      );
    },
    findUser: (id) =>
      recall(
        `user ${id}`,
        () => users.get(id),
        () => remote.findUser(id),
        {
          isTouched: (_, change) => change.users.includes(id),
          remember: (seen) => void users.set(id, seen),
        },
      ),
    createUser: (made, name) => changingUser(made.id, () => remote.createUser(made, name)),
    activate: (made, name) => changingUser(made.id, () => remote.activate(made, name)),
    updateUser: (id, ...rest) => changingUser(id, () => remote.updateUser(id, ...rest)),
    removeUser: (id, how) => changingUser(id, () => remote.removeUser(id, how)),
    acceptIdentity: (claims, made) =>
      changing(
        // Whoever it was is told by the feed; while the store is away nobody else may be forgotten for it.
        (result) => ({ keys: [], users: result === undefined ? [] : [result.found.user.id] }),
        () => remote.acceptIdentity(claims, made),
      ),
    linkIdentity: (id, ...rest) => changingUser(id, () => remote.linkIdentity(id, ...rest)),
    unlinkIdentity: (id, ...rest) => changingUser(id, () => remote.unlinkIdentity(id, ...rest)),
    createApiKey: (key, hash) =>
      changing(
        () => ({ keys: [], users: [], newKeys: [key.id] }),
        () => remote.createApiKey(key, hash),
      ),
    deleteApiKey: (id, how) =>
      changing(
        (ids) => ({ keys: [id, ...(ids ?? [])], users: [] }),
        () => remote.deleteApiKey(id, how),
      ),
    async close() {
      await feed.close();
      await remote.close();
    },
  };
}
