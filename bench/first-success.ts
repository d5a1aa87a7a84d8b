import { setTimeout as sleep } from 'node:timers/promises';
import { requireListeners } from './listeners.ts';
import { urlOf } from './measure.ts';
import type { RunningPeer } from './peers/peer.ts';

const timeoutMs = 30_000;

/** When the first request with a credential succeeds, by performance.now(): some peers accept connections before they know what to do. */
export async function firstSuccess(running: RunningPeer): Promise<number> {
  const { header, values } = running.credentials;
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const headers = { [header]: values[0] ?? '', connection: 'close' };
    const response = await fetch(urlOf(running), { headers, redirect: 'manual' }).catch(() => undefined);
    await response?.arrayBuffer();
    const now = performance.now();
    if (response?.status === 200) {
      requireListeners(running.port, running.pids());
      return now;
    }
    if (now > deadline) throw new Error(`answers a good credential with ${response?.status ?? 'nothing'}`);
    await sleep(2);
  }
}
