import { urlOf } from './measure.ts';
import type { Peer, RunningPeer } from './peers/peer.ts';
import { witnessTarget } from './programs/witness.ts';

/** What a client claims to be, to no avail. */
export const forged = 'forged-by-the-client';

/**
 * A peer that only seems to work is not measured: where one is checked, it must refuse a bad credential, and for a good
 * one the upstream must be told who is calling, whatever the client itself says.
 */
export async function probe(peer: Peer, running: RunningPeer, upstreamPort: number): Promise<void> {
  const { credentials } = running;
  const good = credentials.values.at(-1) ?? '';
  const claim: Record<string, string> = peer.identity === undefined ? {} : { [peer.identity]: forged };
  if (peer.refusal !== undefined) {
    const bad = await ask(running, { ...claim, [credentials.header]: spoil(good) });
    if (bad.status !== peer.refusal) {
      throw new Error(`answered ${bad.status} to a bad credential, not ${peer.refusal}`);
    }
  }
  const { status, bytes } = await ask(running, { ...claim, [credentials.header]: good });
  if (status !== 200 || bytes !== 1024) {
    throw new Error(`answered ${status} with ${bytes} bytes, not 200 with 1024`);
  }
  if (peer.identity === undefined) return;
  const seen = await fetch(`http://127.0.0.1:${upstreamPort}${witnessTarget}`);
  requireIdentity(await seen.text(), peer.identity);
}

/** Throws unless a request's head has the header, with a value that the client didn't give. */
export function requireIdentity(head: string, header: string): void {
  if (head.includes(forged)) throw new Error('the upstream got an identity that the client made up');
  const line = head.split('\r\n').find((each) => each.toLowerCase().startsWith(`${header.toLowerCase()}:`));
  const value = line?.slice(header.length + 1).trim() ?? '';
  if (value === '') throw new Error(`the upstream got no ${header}`);
}

/**
 * The credential with one character changed to another letter than its own in either case, since nginx's `map` ignores case;
 * it is within the signature if there is one.
 */
export function spoil(credential: string): string {
  const at = credential.length - 8;
  const other = credential[at]?.toUpperCase() === 'A' ? 'B' : 'A';
  return credential.slice(0, at) + other + credential.slice(at + 1);
}

async function ask(running: RunningPeer, headers: Record<string, string>) {
  const response = await fetch(urlOf(running), { headers, redirect: 'manual' });
  return { status: response.status, bytes: (await response.arrayBuffer()).byteLength };
}
