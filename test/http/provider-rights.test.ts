import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { startProviderRights } from '../support/administration/provider-rights.ts';
import { respondWithoutEnd } from '../support/servers/event-stream.ts';

/** Opens a stream on a route that asks for `store:read`; resolves to its status, and to when it has ended. */
async function openStream(port: number, headers: Record<string, string>) {
  const request = get({ host: '127.0.0.1', port, path: '/api/store/events', headers, agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const ended = new Promise<void>((resolve) => {
    request.on('error', () => resolve());
    response
      .on('error', () => resolve())
      .on('close', () => resolve())
      .resume();
  });
  return { status: response.statusCode, ended };
}

t.test('streams of a session and its keys end when the provider grants them no longer', async (t) => {
  const { port, upstream, mint, signInAt, userNamed, users } = await startProviderRights(t);
  const granted = await signInAt('carol', ['readers']);
  const { key } = await mint({}, granted);
  upstream.response = respondWithoutEnd;
  const bySession = { authorization: `Bearer ${granted.bearer}` };
  const streams = await Promise.all([openStream(port, bySession), openStream(port, { 'x-api-key': key })]);
  t.strictSame(
    streams.map(({ status }) => status),
    [200, 200],
  );
  await signInAt('carol');
  await Promise.all(streams.map(({ ended }) => ended));

  await signInAt('carol', ['readers']);
  const again = await openStream(port, bySession);
  t.equal(again.status, 200);
  const { id } = await userNamed('carol');
  await users('DELETE', `${id}/identities?provider=idp&subject=carol`);
  await again.ended;
});

t.test('sessions and keys from before where they began was kept have nothing of a provider', async (t) => {
  const { folder, mint, signInAt, usesOf, usesOfKey } = await startProviderRights(t);
  const granted = await signInAt('carol', ['readers']);
  const { id, key } = await mint({}, granted);
  const run = (file: string, sql: string, ...values: string[]) => {
    const db = new Database(join(folder, file));
    db.prepare(sql).run(...values);
    db.close();
  };
  run('records.db', 'UPDATE api_keys SET origin = NULL WHERE id = ?', id);
  run('records.db', 'UPDATE identities SET provider = NULL');
  t.match(await usesOfKey(key), { key: 403, 'key as bearer': 403, decision: 403 });
  t.match(await usesOf(granted), { token: 200 }, 'which provider granted it need not be known');
  run('sessions.db', 'UPDATE sessions SET provider_issuer = NULL, provider_subject = NULL');
  // What a session began with never changes: who uses it is read anew with the next change of the records.
  run('records.db', 'UPDATE users SET version = version + 1');
  t.match(await usesOf(granted), { token: 403, 'refreshed token': 403, decision: 403 });
});
