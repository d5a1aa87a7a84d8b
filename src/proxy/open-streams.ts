import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HeldNow, Principal } from '../credentials/principal.ts';

/** A request in flight under a credential: a forwarded one, or one to a built-in endpoint whose body is arriving. */
export interface OpenStream {
  /** The scopes that the request needs. */
  readonly neededScopes: readonly string[];
  /** Index in the registry, set only by it; -1 if absent. */
  index: number;
  /** Ends the request on the client's side and the upstream's. */
  end(reason: string): void;
}

/** Registry of the authenticated requests in flight, each of which ends with its credential. */
export interface OpenStreams {
  add(principal: Principal, stream: OpenStream): void;
  /** Removes a stream; does nothing if it is absent. */
  remove(stream: OpenStream): void;
  /** Ends all requests of a session or key, as soon as what runs now has returned. */
  endOf(credentialId: string): void;
  /** Checks every credential that has a request in flight once, and ends requests that are no longer allowed. */
  sweep(): Promise<void>;
  readonly size: number;
  /** Stops the periodic sweep. */
  close(): void;
}

/** Time between two sweeps, in milliseconds: a revocation in another process takes effect within a second. */
const sweepIntervalMs = 400;
/** Number of credentials checked at once. */
const checksPerTurn = 50;

/**
 * Creates the registry. While the records are unavailable, streams stay open.
 *
 * One list, not one per credential: every request is added and removed, while credentials seldom end; it is then gone
 * through once, for all that have ended at the same time.
 */
export function createOpenStreams(heldNow: HeldNow): OpenStreams {
  const streams: OpenStream[] = [];
  /** The principals of {@link streams}, in the same order. */
  const principals: Principal[] = [];
  const ended = new Set<string>();
  let sweeping = false;

  function endEnded(): void {
    const ofEnded = streams.filter((_, index) => ended.has(principals[index]!.credentialId));
    ended.clear();
    for (const stream of ofEnded) endIfOpen(stream, 'credential_ended');
  }

  async function check(principal: Principal, open: readonly OpenStream[]): Promise<void> {
    // All of it may have ended since the sweep began.
    if (!open.some(isOpen)) return;
    const held = await heldNow(principal);
    for (const stream of open)
      if (held === null) endIfOpen(stream, 'credential_ended');
      else if (stream.neededScopes.some((scope) => !held.has(scope))) endIfOpen(stream, 'scope_lost');
  }

  async function sweep(): Promise<void> {
    const byId = new Map(principals.map((principal) => [principal.credentialId, principal]));
    const byCredential = Map.groupBy(streams, (_, index) => principals[index]!.credentialId);
    const all = [...byCredential];
    for (let start = 0; start < all.length; start += checksPerTurn) {
      const checks = all.slice(start, start + checksPerTurn).map(([id, open]) => check(byId.get(id)!, open));
      // A credential that can't be checked, because its store is unavailable, must not stop the checks of the others.
      await Promise.allSettled(checks);
      // Stores that respond synchronously would otherwise never let the event loop turn.
      await nextTurn();
    }
  }

  const timer = setInterval(() => {
    if (sweeping || streams.length === 0) return;
    sweeping = true;
    void sweep().finally(() => {
      sweeping = false;
    });
  }, sweepIntervalMs);
  timer.unref();

  return {
    add(principal, stream) {
      stream.index = streams.length;
      streams.push(stream);
      principals.push(principal);
    },
    remove(stream) {
      const { index } = stream;
      if (index < 0) return;
      stream.index = -1;
      const last = streams.pop()!;
      const principal = principals.pop()!;
      if (last === stream) return;
      streams[index] = last;
      principals[index] = principal;
      last.index = index;
    },
    endOf(credentialId) {
      if (ended.size === 0) queueMicrotask(endEnded);
      ended.add(credentialId);
    },
    sweep,
    get size() {
      return streams.length;
    },
    close: () => clearInterval(timer),
  };
}

function isOpen({ index }: OpenStream): boolean {
  return index >= 0;
}

function endIfOpen(stream: OpenStream, reason: string): void {
  if (isOpen(stream)) stream.end(reason);
}
