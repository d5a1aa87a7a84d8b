import { decideTurn, isDue } from '../key-schedule.ts';
import type { RecordSeals } from '../record-seals.ts';
import {
  isOfSeries,
  type KeyChange,
  type KeyTurnRequest,
  type NewSigningKey,
  type SigningKey,
  type SigningKeyRecords,
} from '../signing-keys.ts';
import { writeAudited } from './audit-events.ts';
import type { SqlDatabase } from './database.ts';
import { openSecret, sealedUses } from './sealed-values.ts';
import { all, first, noteChange, run, type Steps } from './steps.ts';

const select = `SELECT kid, purpose, algorithm, private_jwk AS "privateJwk", created, signs_from AS "signsFrom",
  retired, requested, lifetime AS "lifetimeMs" FROM signing_keys ORDER BY created DESC, kid DESC`;
const insert = `INSERT INTO signing_keys (kid, purpose, algorithm, private_jwk, created, signs_from, lifetime)
  VALUES (?, ?, ?, ?, ?, ?, ?)`;
const start = 'UPDATE signing_keys SET signs_from = ? WHERE kid = ?';
const retire = 'UPDATE signing_keys SET retired = ? WHERE kid = ?';
const prolong = 'UPDATE signing_keys SET lifetime = ? WHERE kid = ?';
const drop = 'DELETE FROM signing_keys WHERE kid = ?';
const request = `UPDATE signing_keys SET requested = coalesce(requested, ?)
  WHERE purpose = ? AND algorithm = ? AND signs_from IS NOT NULL AND retired IS NULL RETURNING kid`;
const revokeKey = 'DELETE FROM signing_keys WHERE kid = ? AND purpose = ? AND algorithm = ? RETURNING kid';
const selectEarlierSecret = "SELECT value FROM secrets WHERE name = 'cookie'";
const dropEarlierSecret = "DELETE FROM secrets WHERE name = 'cookie'";

/** Signing keys in SQL; `now` is the clock of audit events, in epoch milliseconds. */
export function createSigningKeys(
  database: SqlDatabase,
  now: () => number,
  seals: RecordSeals,
): SigningKeyRecords {
  const { snapshot, time } = database;
  return {
    signingKeys: () =>
      snapshot(function* () {
        return { keys: yield* readKeys(seals), time: yield* time() };
      }),
    turnSigningKeys: (wanted, audit) =>
      writeAudited(database, now, () => turnKeys(wanted, time, seals), audit),
  };
}

function* readKeys(seals: RecordSeals): Steps<readonly SigningKey[]> {
  const stored = yield* all<SigningKey>(select);
  return stored.map((key) => ({
    ...key,
    privateJwk: seals.open(sealedUses.signingKey(key), key.privateJwk),
  }));
}

function* turnKeys(wanted: KeyTurnRequest, time: SqlDatabase['time'], seals: RecordSeals): Steps<KeyChange> {
  const { series, times, candidate } = wanted;
  const now = yield* time();
  const asked = yield* doAsAsked(wanted, now);
  const before = yield* readKeys(seals);
  const turn = decideTurn(
    before.filter((key) => isOfSeries(key, series)),
    times,
    now,
  );
  const added = turn.needs === null ? null : candidate;
  const change = { time: now, turn, added: added?.kid ?? null, ...asked };
  if (asked.revoked === null && asked.requested === null && !isDue(turn)) return { ...change, keys: before };
  for (const kid of turn.drop) yield* run(drop, kid);
  for (const kid of turn.prolong) yield* run(prolong, times.lifetimeMs, kid);
  for (const kid of turn.retire) yield* run(retire, now, kid);
  if (turn.start !== null) yield* run(start, now, turn.start);
  if (added !== null) {
    const isFirst = turn.needs === 'signer';
    const { kid, purpose, algorithm, privateJwk } = isFirst ? yield* asBefore(added, seals) : added;
    const sealed = seals.seal(sealedUses.signingKey(added), privateJwk);
    yield* run(insert, kid, purpose, algorithm, sealed, now, isFirst ? now : null, times.lifetimeMs);
  }
  yield* noteChange({ hasSigningKeys: true });
  return { ...change, keys: yield* readKeys(seals) };
}

function* doAsAsked(
  { series, revoke, isRequested }: KeyTurnRequest,
  now: number,
): Steps<Pick<KeyChange, 'revoked' | 'requested'>> {
  const { purpose, algorithm } = series;
  const dropped =
    revoke === undefined ? [] : yield* run<{ readonly kid: string }>(revokeKey, revoke, purpose, algorithm);
  const noted = isRequested ? yield* run<{ readonly kid: string }>(request, now, purpose, algorithm) : [];
  return { revoked: dropped[0]?.kid ?? null, requested: noted[0]?.kid ?? null };
}

/** Gives the first cookie secret the value that it had before secrets could be replaced, if any, and deletes the old record. */
function* asBefore(candidate: NewSigningKey, seals: RecordSeals): Steps<NewSigningKey> {
  if (candidate.purpose !== 'cookie') return candidate;
  const earlier = yield* first<{ readonly value: Uint8Array }>(selectEarlierSecret);
  if (earlier === undefined) return candidate;
  yield* run(dropEarlierSecret);
  const k = Buffer.from(openSecret(seals, 'cookie', earlier.value)).toString('base64url');
  return { ...candidate, privateJwk: JSON.stringify({ kty: 'oct', k }) };
}
