import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import t from 'tap';
import { type CommandResult, createCommandFolder } from '../support/gateway/command.ts';

const identity_providers = {
  idp: {
    issuer: 'https://id.example.com',
    client_id: 'postern',
    redirect_uri: 'https://acme.example.com/signed-in',
  },
};
const linked = ['--provider', 'idp', '--subject', '248289761001'];
const others = ['--provider', 'idp', '--subject', 'another'];

t.test('the records by which a command is judged are read in its transaction', async (t) => {
  const { run, folder } = createCommandFolder(t, { identity_providers });
  const added = await run(['user', 'add', 'grace', '--without-password']);
  t.equal(added.code, 0, added.stderr);
  t.equal((await run(['user', 'link', 'grace', ...linked])).code, 0);
  const db = new Database(join(folder, 'records.db'));
  // As while a gateway has it open: else a reader would have to wait for the one that writes.
  db.pragma('journal_mode = WAL');
  t.teardown(() => db.close());
  const identities = () => db.prepare('SELECT issuer, subject FROM identities').all();
  const before = identities();

  /** Runs a command that reads a user, and finds another when it writes. */
  async function overtaken(args: readonly string[], change: string): Promise<CommandResult> {
    db.exec('BEGIN IMMEDIATE');
    db.exec(change);
    const result = run(args);
    // It has read by then, or will read the change: either way the result is the same.
    await sleep(300);
    db.exec('COMMIT');
    return result;
  }

  const managed = 'UPDATE users SET managed = 1';
  const says = /^postern: "grace" has left the configuration: user enable takes it over\n$/m;
  t.match(await overtaken(['user', 'link', 'grace', ...others], managed), { code: 1, stderr: says });
  db.exec('UPDATE users SET managed = 0');
  t.match(await overtaken(['user', 'unlink', 'grace', ...linked], managed), { code: 1, stderr: says });
  t.strictSame(identities(), before);
  const audit = db.prepare(`SELECT event FROM audit WHERE event LIKE 'identity%'`).all();
  t.strictSame(audit, [{ event: 'identity_linked' }]);
});

t.test('a service is not linked: it never signs in', async (t) => {
  const { run } = createCommandFolder(t, { identity_providers });
  t.equal((await run(['user', 'add', 'nightly', '--service'])).code, 0);
  t.match(await run(['user', 'link', 'nightly', ...linked]), {
    code: 1,
    stderr: 'postern: "nightly" is a service, which never signs in\n',
  });
});
