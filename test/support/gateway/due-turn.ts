import { Audit } from '../../../src/administration/audit.ts';
import { automatic } from '../../../src/administration/caller.ts';
import { signingKeyEvents } from '../../../src/administration/signing-keys.ts';
import type { Records } from '../../../src/stores/records.ts';
import type { KeySeries } from '../../../src/stores/signing-keys.ts';

const series: KeySeries = { purpose: 'access-token', algorithm: 'ES256' };
const times = { rotateEveryMs: 100_000, publishAheadMs: 1_000, lifetimeMs: 39_500 };
const audit = new Audit({ log: { audit() {} }, keep() {}, now: Date.now }).withChange(
  automatic,
  signingKeyEvents,
);
const key = (kid: string) => ({ ...series, kid, privateJwk: '{}' });

/** What a gateway calls when a rotation is due. */
export function dueTurn(candidate: string | null): Parameters<Records['turnSigningKeys']> {
  return [{ series, times, candidate: candidate === null ? null : key(candidate) }, audit];
}

/**
 * Fills a store by its clock, so that the next turn drops the first key, retires the second and has the third sign.
 */
export async function prepareDueTurn(
  store: Pick<Records, 'turnSigningKeys'>,
  advance: (milliseconds: number) => void | Promise<void>,
): Promise<void> {
  const steps = [
    { afterMs: 0, candidate: 'first' },
    { afterMs: 99_000, candidate: 'second' },
    { afterMs: 1_000, candidate: null },
    { afterMs: 99_000, candidate: 'third' },
  ];
  for (const { afterMs, candidate } of steps) {
    await advance(afterMs);
    await store.turnSigningKeys(...dueTurn(candidate));
  }
  await advance(1_000);
}
