import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HeldNow, Principal } from '../credentials/principal.ts';

/** A request in flight under a credential: a forwarded one, or an own one whose body is on its way. */
export interface OpenStream {
  readonly principal: Principal;
  /** The scopes it needs. */
  readonly neededScopes: readonly string[];
  /** Ends it on the client's side and the upstream's. */
  end(reason: string): void;
}

/** Every request in flight, by the credential it came with: they end when the credential does. */
export interface OpenStreams {
  add(stream: OpenStream): void;
  remove(stream: OpenStream): void;
  /** Ends all that came with the session or key. */
  endOf(credentialId: string): void;
  /** Looks at every credential with something in flight once and ends what is not allowed any more. */
  sweep(): Promise<void>;
  readonly size: number;
  /** Stops looking. */
  close(): void;
}

/** How often credentials in flight are looked at, in milliseconds: revocation elsewhere is seen within a second. */
const sweepIntervalMs = 400;
/** How many credentials are looked at together. */
const checksPerTurn = 50;

/** Builds the registry. While the records are away streams stay as they are. */
export function createOpenStreams(heldNow: HeldNow): OpenStreams {
  const byCredential = new Map<string, Set<OpenStream>>();
  let size = 0;
  let sweeping = false;

  function endAll(streams: Set<OpenStream>, reason: string): void {
    for (const stream of [...streams]) stream.end(reason);
  }

  async function look(streams: Set<OpenStream>): Promise<void> {
    const [first] = streams;
    if (first === undefined) return;
    const held = await heldNow(first.principal);
    if (held === null) endAll(streams, 'credential_ended');
    else
      for (const stream of [...streams])
        if (stream.neededScopes.some((scope) => !held.has(scope))) stream.end('scope_lost');
  }

  async function sweep(): Promise<void> {
    const all = [...byCredential.values()];
    for (let start = 0; start < all.length; start += checksPerTurn) {
      // One that can't be looked at, its store being away, keeps the others from nothing.
      await Promise.allSettled(all.slice(start, start + checksPerTurn).map(look));
      // Stores that response at once would otherwise leave the event loop no turn.
      await nextTurn();
    }
  }

  const timer = setInterval(() => {
    if (sweeping || size === 0) return;
    sweeping = true;
    void sweep().finally(() => {
      sweeping = false;
    });
  }, sweepIntervalMs);
  timer.unref();

  return {
    add(stream) {
      const id = stream.principal.credentialId;
      const streams = byCredential.get(id);
      if (streams === undefined) byCredential.set(id, new Set([stream]));
      else streams.add(stream);
      size++;
    },
    remove(stream) {
      const id = stream.principal.credentialId;
      const streams = byCredential.get(id);
      if (streams === undefined || !streams.delete(stream)) return;
      size--;
      if (streams.size === 0) byCredential.delete(id);
    },
    endOf(credentialId) {
      const streams = byCredential.get(credentialId);
      if (streams !== undefined) endAll(streams, 'credential_ended');
    },
    sweep,
    get size() {
      return size;
    },
    close: () => clearInterval(timer),
  };
}
