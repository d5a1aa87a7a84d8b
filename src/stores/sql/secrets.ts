import type { BootstrapState, Records, SigningKey } from '../records.ts';
import { writeAudited } from './audit-events.ts';
import type { SqlDatabase } from './database.ts';
import { all, first, run, type Steps } from './steps.ts';

/** The part of the records store for signing keys, secrets and the bootstrap token. */
export type Secrets = Pick<
  Records,
  'signingKeys' | 'addSigningKey' | 'secret' | 'bootstrap' | 'setBootstrapToken'
>;

interface BootstrapRow {
  readonly open: number;
  readonly token: string | null;
}

interface SecretRow {
  readonly value: Uint8Array;
}

const selectSigningKeys = `SELECT kid, algorithm, private_jwk AS "privateJwk", created
  FROM signing_keys ORDER BY created DESC, kid DESC`;
const insertSigningKey =
  'INSERT INTO signing_keys (kid, algorithm, private_jwk, created) VALUES (?, ?, ?, ?)';
const selectSecret = 'SELECT value FROM secrets WHERE name = ?';
const insertSecret = 'INSERT INTO secrets (name, value) VALUES (?, ?)';
const selectBootstrap = 'SELECT open, token FROM bootstrap';
const keepToken = 'UPDATE bootstrap SET token = ? WHERE open = 1 AND token IS NULL';
const resetToken = 'UPDATE bootstrap SET open = 1, token = ?';

/** Signing keys, secrets and the bootstrap token in SQL; `now` is the clock, in epoch milliseconds. */
export function createSecrets(database: SqlDatabase, now: () => number): Secrets {
  const { one, many, write } = database;
  return {
    signingKeys: () => many(selectSigningKeys, [], (rows: readonly SigningKey[]) => rows),
    addSigningKey: (key) => write(() => addSigningKey(key)),
    secret: (name, candidate) => write(() => keepSecret(name, candidate)),
    bootstrap: () => one(selectBootstrap, [], toBootstrapState),
    setBootstrapToken: (token, { reset }, audit) =>
      writeAudited(database, now, () => setBootstrapToken(token, reset), audit),
  };
}

function* addSigningKey(key: SigningKey): Steps<readonly SigningKey[]> {
  const kept = yield* all<SigningKey>(selectSigningKeys);
  if (kept.some(({ algorithm }) => algorithm === key.algorithm)) return kept;
  yield* run(insertSigningKey, key.kid, key.algorithm, key.privateJwk, key.created);
  return yield* all<SigningKey>(selectSigningKeys);
}

function* keepSecret(name: string, candidate: Uint8Array): Steps<Uint8Array> {
  const kept = yield* first<SecretRow>(selectSecret, name);
  if (kept !== undefined) return kept.value;
  yield* run(insertSecret, name, candidate);
  return candidate;
}

function* setBootstrapToken(token: string, reset: boolean): Steps<BootstrapState> {
  yield* run(reset ? resetToken : keepToken, token);
  return toBootstrapState(yield* first<BootstrapRow>(selectBootstrap));
}

function toBootstrapState(row: BootstrapRow | undefined): BootstrapState {
  if (row === undefined) throw new Error('the bootstrap row is missing');
  return { open: row.open === 1, token: row.token };
}
