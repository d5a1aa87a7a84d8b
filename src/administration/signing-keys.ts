import { type KeySettings, type PlannedSeries, timesOf } from '../credentials/key-times.ts';
import { generateSigningKey } from '../credentials/signing-keys.ts';
import { Refusal } from '../errors.ts';
import { nextOf, signerOf, turnsAt } from '../stores/key-schedule.ts';
import { isOfSeries, type KeyChange, type KeyTurnRequest, type SigningKey } from '../stores/signing-keys.ts';
import type { ChangeEvent } from './audit.ts';
import type { Caller } from './caller.ts';
import type { PartsWith } from './use-case.ts';

/** Makes the next key of a series sign; resolves to that key and the time from which it signs (epoch ms; null: now). */
export async function rotateSigningKey(
  parts: PartsWith<'turnSigningKeys'>,
  by: Caller,
  { series, times }: PlannedSeries,
): Promise<{ readonly key: SigningKey; readonly signsLater: number | null }> {
  const { keys, time } = await turn(parts, by, { series, times, isRequested: true });
  const ours = keys.filter((key) => isOfSeries(key, series));
  const next = nextOf(ours);
  return next === undefined
    ? { key: signerOf(ours)!, signsLater: null }
    : { key: next, signsLater: turnsAt(ours, times, time) };
}

/** Revokes a key and makes the next one sign; resolves to the key that signs then, if any. Rejects with `not_found`. */
export async function revokeSigningKey(
  parts: PartsWith<'signingKeys' | 'turnSigningKeys'>,
  by: Caller,
  kid: string,
  settings: KeySettings,
): Promise<SigningKey | undefined> {
  const found = (await parts.records.signingKeys()).keys.find((key) => key.kid === kid);
  if (found === undefined) throw new Refusal('not_found');
  const series = { purpose: found.purpose, algorithm: found.algorithm };
  const times = timesOf(series, settings);
  const { keys, revoked } = await turn(parts, by, { series, times, revoke: kid });
  if (revoked === null) throw new Refusal('not_found');
  return signerOf(keys.filter((key) => isOfSeries(key, series)));
}

async function turn(
  { records, audit }: PartsWith<'turnSigningKeys'>,
  by: Caller,
  wanted: Omit<KeyTurnRequest, 'candidate'>,
): Promise<KeyChange> {
  const candidate = await generateSigningKey(wanted.series);
  return records.turnSigningKeys({ ...wanted, candidate }, audit.withChange(by, signingKeyEvents));
}

/** Audit events of a change of keys: another key signs, one was revoked, or the next one was asked for. */
export function signingKeyEvents({
  turn,
  revoked,
  requested,
}: Pick<KeyChange, 'turn' | 'revoked' | 'requested'>): readonly ChangeEvent[] {
  const about = (event: ChangeEvent['event'], id: string): ChangeEvent => ({
    event,
    subject: null,
    target: { type: 'signing_key', id },
  });
  return [
    ...(revoked === null ? [] : [about('signing_key_revoked', revoked)]),
    ...(turn.start === null ? [] : [about('signing_key_rotated', turn.start)]),
    ...(requested === null || turn.start !== null ? [] : [about('signing_key_requested', requested)]),
  ];
}
