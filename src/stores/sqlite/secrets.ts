import type { BootstrapState, Records, SigningKey } from '../records.ts';
import type { Connection } from './connection.ts';

/** The part of the records store about signing keys, secrets and the bootstrap token. */
export type Secrets = Pick<
  Records,
  'signingKeys' | 'addSigningKey' | 'secret' | 'bootstrap' | 'setBootstrapToken'
>;

interface BootstrapRow {
  readonly open: number;
  readonly token: string | null;
}

/** Signing keys, secrets and the bootstrap token on SQLite. */
export function createSecrets({ db, read, write }: Connection): Secrets {
  const allSigningKeys = db.prepare<[], SigningKey>(
    `SELECT kid, algorithm, private_jwk AS privateJwk, created FROM signing_keys ORDER BY created DESC, kid DESC`,
  );
  const insertSigningKey = db.prepare<[SigningKey]>(
    `INSERT INTO signing_keys (kid, algorithm, private_jwk, created)
      SELECT @kid, @algorithm, @privateJwk, @created
      WHERE NOT EXISTS (SELECT 1 FROM signing_keys WHERE algorithm = @algorithm)`,
  );
  const insertSecret = db.prepare<[string, Uint8Array]>(
    'INSERT INTO secrets (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING',
  );
  const secretByName = db.prepare<[string], Uint8Array>('SELECT value FROM secrets WHERE name = ?').pluck();
  const selectBootstrap = db.prepare<[], BootstrapRow>('SELECT open, token FROM bootstrap');
  const keepToken = db.prepare<[string]>('UPDATE bootstrap SET token = ? WHERE open = 1 AND token IS NULL');
  const resetToken = db.prepare<[string]>('UPDATE bootstrap SET open = 1, token = ?');

  function bootstrapState(): BootstrapState {
    const { open, token } = selectBootstrap.get()!;
    return { open: open === 1, token };
  }

  return {
    signingKeys: () => read(() => allSigningKeys.all()),
    addSigningKey: (key) =>
      write(() => {
        insertSigningKey.run(key);
        return allSigningKeys.all();
      }),
    secret: (name, candidate) =>
      write(() => {
        insertSecret.run(name, candidate);
        return secretByName.get(name)!;
      }),
    bootstrap: () => read(bootstrapState),
    setBootstrapToken: (token, { reset }) =>
      write(() => {
        (reset ? resetToken : keepToken).run(token);
        return bootstrapState();
      }),
  };
}
