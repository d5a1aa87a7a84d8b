import { isSealed, type RecordSeals, type SealedUse } from '../record-seals.ts';
import type { SqlDatabase } from './database.ts';
import { all, run, type Steps } from './steps.ts';

/** The use that the encryption of each kind of value is bound to. */
export const sealedUses = {
  signingKey: ({ purpose, kid }: { readonly purpose: string; readonly kid: string }): SealedUse => ({
    purpose: `${purpose} key`,
    id: kid,
  }),
  secret: (name: string): SealedUse => ({ purpose: 'secret', id: name }),
  bootstrapToken: { purpose: 'token', id: 'bootstrap' },
} as const;

/** A stored value that has to be encrypted at rest, from any table. */
interface Kept {
  readonly use: SealedUse;
  /** The stored value as text; a secret that isn't encrypted is given in base64url. */
  readonly stored: string;
  /** Replaces the stored value by an encrypted one. */
  readonly update: (sealed: string) => Steps<unknown>;
}

const selectKeys = 'SELECT kid, purpose, private_jwk AS value FROM signing_keys';
const updateKey = 'UPDATE signing_keys SET private_jwk = ? WHERE kid = ?';
const selectSecrets = "SELECT name, value FROM secrets WHERE name <> 'tenant'";
const updateSecret = 'UPDATE secrets SET value = ? WHERE name = ?';
const selectToken = 'SELECT token FROM bootstrap WHERE token IS NOT NULL';
const updateToken = 'UPDATE bootstrap SET token = ?';

/**
 * Decrypts every private key and secret of a records store, and rewrites the values that `seals` would store differently now.
 * Resolves to true if anything was rewritten. Rejects with {@link ../record-seals.ts SealError} when a value can't be decrypted.
 */
export async function sealAll(database: SqlDatabase, seals: RecordSeals): Promise<boolean> {
  if ((await database.snapshot(() => outdated(seals))).length === 0) return false;
  return database.write(function* () {
    const found = yield* outdated(seals);
    for (const { use, stored, update } of found) yield* update(seals.seal(use, seals.open(use, stored)));
    if (found.length > 0) yield* database.noteRewrite();
    return found.length > 0;
  });
}

/** Decrypts a secret if it is encrypted. Throws {@link ../record-seals.ts SealError} when it can't be decrypted. */
export function openSecret(seals: RecordSeals, name: string, stored: Uint8Array): Uint8Array {
  const text = textOf(stored);
  return isSealed(text) ? Buffer.from(seals.open(sealedUses.secret(name), text), 'base64url') : stored;
}

/** The bytes to store for a secret: encrypted, or unchanged when there is no encryption key. */
export function sealSecret(seals: RecordSeals, name: string, secret: Uint8Array): Uint8Array {
  const sealed = seals.seal(sealedUses.secret(name), textOf(secret));
  return isSealed(sealed) ? Buffer.from(sealed) : secret;
}

/** Finds the values that would be stored differently now. Decrypts every value, as an id may have been given to another key. */
function* outdated(seals: RecordSeals): Steps<readonly Kept[]> {
  const found = yield* keptValues();
  for (const { use, stored } of found) seals.open(use, stored);
  return found.filter(({ stored }) => !seals.isCurrent(stored));
}

function* keptValues(): Steps<readonly Kept[]> {
  const keys = yield* all<{ readonly kid: string; readonly purpose: string; readonly value: string }>(
    selectKeys,
  );
  const secrets = yield* all<{ readonly name: string; readonly value: Uint8Array }>(selectSecrets);
  const tokens = yield* all<{ readonly token: string }>(selectToken);
  return [
    ...keys.map((key) => ({
      use: sealedUses.signingKey(key),
      stored: key.value,
      update: (sealed: string) => run(updateKey, sealed, key.kid),
    })),
    ...secrets.map(({ name, value }) => ({
      use: sealedUses.secret(name),
      stored: textOf(value),
      update: (sealed: string) => run(updateSecret, Buffer.from(sealed), name),
    })),
    ...tokens.map(({ token }) => ({
      use: sealedUses.bootstrapToken,
      stored: token,
      update: (sealed: string) => run(updateToken, sealed),
    })),
  ];
}

function textOf(stored: Uint8Array): string {
  const bytes = Buffer.from(stored);
  const text = bytes.toString('latin1');
  return isSealed(text) ? text : bytes.toString('base64url');
}
