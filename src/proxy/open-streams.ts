import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HeldNow, Principal } from '../credentials/principal.ts';

/** An authenticated request in flight: a forwarded one, or one to a built-in endpoint whose body is arriving. */
export interface OpenStream {
  readonly neededScopes: readonly string[];
  /** Index in the registry, set only by the registry; -1 while the stream isn't registered. */
  index: number;
  /** Ends the request on both sides, the client's and the upstream's. */
  end(reason: string): void;
}

/** Time between two sweeps, in milliseconds: a revocation in another process takes effect within a second. */
const sweepIntervalMs = 400;
/** Number of credentials checked at once. */
const checksPerTurn = 50;

/**
 * Registry of the authenticated requests in flight, each of which ends with its credential. Streams stay open during an outage of
 * the records store, as long as its cached records are valid.
 *
 * A single list, not one per credential: every request is added and removed, while credentials rarely end, and one pass over the
 * list then serves all that end at the same time.
 */
export class OpenStreams {
  readonly #heldNow: HeldNow;
  readonly #streams: OpenStream[] = [];
  /** The principals of the streams, in the same order. */
  readonly #principals: Principal[] = [];
  readonly #ended = new Set<string>();
  /** Null while no sweeps are scheduled. */
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;
  #isSweeping = false;

  constructor(heldNow: HeldNow) {
    this.#heldNow = heldNow;
  }

  get size(): number {
    return this.#streams.length;
  }

  add(principal: Principal, stream: OpenStream): void {
    stream.index = this.#streams.length;
    this.#streams.push(stream);
    this.#principals.push(principal);
    if (this.#timer === null && !this.#isClosed) this.#startSweeping();
  }

  /** True while streams are checked at intervals. */
  get isSwept(): boolean {
    return this.#timer !== null;
  }

  #startSweeping(): void {
    this.#timer = setInterval(() => this.#sweepOrStop(), sweepIntervalMs).unref();
  }

  #sweepOrStop(): void {
    if (this.#isSweeping) return;
    if (this.size === 0) {
      this.#stopSweeping();
      return;
    }
    this.#isSweeping = true;
    void this.sweep().finally(() => {
      this.#isSweeping = false;
    });
  }

  #stopSweeping(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Removes a stream; does nothing if it is absent. */
  remove(stream: OpenStream): void {
    const { index } = stream;
    if (index < 0) return;
    stream.index = -1;
    const last = this.#streams.pop()!;
    const principal = this.#principals.pop()!;
    if (last === stream) return;
    this.#streams[index] = last;
    this.#principals[index] = principal;
    last.index = index;
  }

  /** Ends all requests of a session or key, in a microtask, so that one pass serves all credentials that end in the same call. */
  endOf(credentialId: string): void {
    if (this.#ended.size === 0) queueMicrotask(() => this.#endEnded());
    this.#ended.add(credentialId);
  }

  #endEnded(): void {
    const ofEnded = this.#streams.filter((_, index) =>
      this.#ended.has(this.#principals[index]!.credentialId),
    );
    this.#ended.clear();
    for (const stream of ofEnded) endIfOpen(stream, 'credential_ended');
  }

  /** Checks every credential that has a request in flight, and ends the requests that are no longer allowed. */
  async sweep(): Promise<void> {
    const byId = new Map(this.#principals.map((principal) => [principal.credentialId, principal]));
    const byCredential = Map.groupBy(this.#streams, (_, index) => this.#principals[index]!.credentialId);
    const all = [...byCredential];
    for (let start = 0; start < all.length; start += checksPerTurn) {
      const some = all.slice(start, start + checksPerTurn);
      // A credential that can't be checked, because its store is unavailable, must not stop the checks of the others.
      await Promise.allSettled(some.map(([id, open]) => this.#check(byId.get(id)!, open)));
      // Stores that respond synchronously would otherwise never let the event loop turn.
      await nextTurn();
    }
  }

  async #check(principal: Principal, open: readonly OpenStream[]): Promise<void> {
    // All of these requests may have ended since the sweep began.
    if (!open.some(isOpen)) return;
    const held = await this.#heldNow(principal);
    for (const stream of open)
      if (held === null) endIfOpen(stream, 'credential_ended');
      else if (stream.neededScopes.some((scope) => !held.has(scope))) endIfOpen(stream, 'scope_lost');
  }

  close(): void {
    this.#isClosed = true;
    this.#stopSweeping();
  }
}

function isOpen({ index }: OpenStream): boolean {
  return index >= 0;
}

function endIfOpen(stream: OpenStream, reason: string): void {
  if (isOpen(stream)) stream.end(reason);
}
