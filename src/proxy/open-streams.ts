import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HeldNow, Principal } from '../credentials/principal.ts';

/** A request in flight under a credential: a forwarded one, or one to a built-in endpoint whose body is arriving. */
export interface OpenStream {
  /** The scopes it needs. */
  readonly neededScopes: readonly string[];
  /** Ends it on the client's side and the upstream's. */
  end(reason: string): void;
}

/** Every authenticated request in flight, by credential: they end when the credential does. */
export interface OpenStreams {
  add(principal: Principal, stream: OpenStream): void;
  /** Does nothing for a stream that is no longer there. */
  remove(principal: Principal, stream: OpenStream): void;
  /** Ends all requests of a session or key. */
  endOf(credentialId: string): void;
  /** Checks every credential that has a request in flight once, and ends requests that are no longer allowed. */
  sweep(): Promise<void>;
  readonly size: number;
  /** Stops the periodic sweep. */
  close(): void;
}

/** Time between two sweeps, in milliseconds: a revocation in another process takes effect within a second. */
const sweepIntervalMs = 400;
/** How many credentials are checked at once. */
const checksPerTurn = 50;

/** What one credential has in flight. */
interface CredentialStreams {
  readonly principal: Principal;
  readonly streams: Set<OpenStream>;
}

/** Creates the registry. While the records are unavailable, streams stay open. */
export function createOpenStreams(heldNow: HeldNow): OpenStreams {
  const byCredential = new Map<string, CredentialStreams>();
  let size = 0;
  let sweeping = false;

  function endAll({ streams }: CredentialStreams): void {
    for (const stream of [...streams]) stream.end('credential_ended');
  }

  async function check(open: CredentialStreams): Promise<void> {
    // All of it may have ended since the sweep began.
    if (open.streams.size === 0) return;
    const held = await heldNow(open.principal);
    if (held === null) endAll(open);
    else
      for (const stream of [...open.streams])
        if (stream.neededScopes.some((scope) => !held.has(scope))) stream.end('scope_lost');
  }

  async function sweep(): Promise<void> {
    const all = [...byCredential.values()];
    for (let start = 0; start < all.length; start += checksPerTurn) {
      // A credential that can't be checked, because its store is unavailable, must not stop the checks of the others.
      await Promise.allSettled(all.slice(start, start + checksPerTurn).map(check));
      // Stores that respond synchronously would otherwise never let the event loop turn.
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
    add(principal, stream) {
      const open = byCredential.get(principal.credentialId);
      if (open === undefined)
        byCredential.set(principal.credentialId, { principal, streams: new Set([stream]) });
      else open.streams.add(stream);
      size++;
    },
    remove({ credentialId }, stream) {
      const open = byCredential.get(credentialId);
      if (open === undefined || !open.streams.delete(stream)) return;
      size--;
      if (open.streams.size === 0) byCredential.delete(credentialId);
    },
    endOf(credentialId) {
      const open = byCredential.get(credentialId);
      if (open !== undefined) endAll(open);
    },
    sweep,
    get size() {
      return size;
    },
    close: () => clearInterval(timer),
  };
}
