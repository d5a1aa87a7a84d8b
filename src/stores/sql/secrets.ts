import type { RecordSeals } from '../record-seals.ts';
import type { BootstrapState, Records } from '../records.ts';
import { writeAudited } from './audit-events.ts';
import type { SqlDatabase } from './database.ts';
import { openSecret, sealedUses, sealSecret } from './sealed-values.ts';
import { first, run, type Steps } from './steps.ts';

interface BootstrapRow {
  readonly open: number;
  readonly token: string | null;
}

interface SecretRow {
  readonly value: Uint8Array;
}

const selectSecret = 'SELECT value FROM secrets WHERE name = ?';
const insertSecret = 'INSERT INTO secrets (name, value) VALUES (?, ?)';
const selectBootstrap = 'SELECT open, token FROM bootstrap';
const keepToken = 'UPDATE bootstrap SET token = ? WHERE open = 1 AND token IS NULL';
const resetToken = 'UPDATE bootstrap SET open = 1, token = ?';

/** Secrets and the bootstrap token in SQL; `now` is the clock, in epoch milliseconds. */
export function createSecrets(database: SqlDatabase, now: () => number, seals: RecordSeals) {
  const { one, write } = database;
  return {
    async secret(name, candidate) {
      // A kept secret stays, so a start takes no lock for those of earlier starts.
      const kept = await one(selectSecret, [name], (row: SecretRow | undefined) => row?.value);
      if (kept !== undefined) return openSecret(seals, name, kept);
      return write(() => keepSecret(name, candidate, seals));
    },
    bootstrap: () =>
      one(selectBootstrap, [], (row: BootstrapRow | undefined) => toBootstrapState(row, seals)),
    setBootstrapToken: (token, { reset }, audit) =>
      writeAudited(database, now, () => setBootstrapToken(token, reset, seals), audit),
  } satisfies Partial<Records>;
}

function* keepSecret(name: string, candidate: Uint8Array, seals: RecordSeals): Steps<Uint8Array> {
  const kept = yield* first<SecretRow>(selectSecret, name);
  if (kept !== undefined) return openSecret(seals, name, kept.value);
  // The tenant's name isn't secret, and must be readable with the keys of another tenant.
  const isPublic = name === 'tenant';
  yield* run(insertSecret, name, isPublic ? candidate : sealSecret(seals, name, candidate));
  return candidate;
}

function* setBootstrapToken(token: string, reset: boolean, seals: RecordSeals): Steps<BootstrapState> {
  yield* run(reset ? resetToken : keepToken, seals.seal(sealedUses.bootstrapToken, token));
  return toBootstrapState(yield* first<BootstrapRow>(selectBootstrap), seals);
}

function toBootstrapState(row: BootstrapRow | undefined, seals: RecordSeals): BootstrapState {
  if (row === undefined) throw new Error('the bootstrap row is missing');
  const token = row.token === null ? null : seals.open(sealedUses.bootstrapToken, row.token);
  return { open: row.open === 1, token };
}
