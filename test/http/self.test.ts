import { readFileSync } from 'node:fs';
import t from 'tap';
import { addUser, changeUser } from '../support/administration/accounts.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';

const path = '/api/self';
const grace = { username: 'grace', password: 'nanoseconds are this long' };

t.test('who is calling, by session and by key, as services see them', async (t) => {
  const gateway = await startForwarding(t, { endpoints: { self: 'own', users: 'own' } });
  const { api, bearer, key, keyId, upstream, advance } = gateway;
  const user = await addUser(gateway.folder, { ...grace, scopes: ['store:read'] });
  await changeUser(gateway.folder, user.id, { displayName: 'Grace Hopper' });
  const { accessToken } = await api.signIn(grace.username, grace.password);
  /** What an upstream learns of the same credential. */
  const seenBy = async (credential: object) => {
    await api.send({ path: '/api/other', ...credential });
    const seen = upstream.seen.at(-1)!;
    const value = (name: string) => seen.values(name)[0] ?? null;
    return {
      subject: value('x-auth-subject'),
      username: value('x-auth-username'),
      method: value('x-auth-method'),
      scopes: (value('x-auth-scopes') ?? '').split(' ').filter((scope) => scope !== ''),
      session_id: value('x-auth-session-id'),
      key_id: value('x-auth-key-id'),
    };
  };
  const session = await api.send({ path, bearer: accessToken });
  t.equal(session.status, 200);
  const { display_name, expires, ...shared } = session.json;
  t.strictSame(shared, await seenBy({ bearer: accessToken }));
  t.strictSame([display_name, shared.scopes, shared.key_id], ['Grace Hopper', ['store:read'], null]);
  const [listed] = (await api.send({ path: '/api/self/sessions/', bearer: accessToken })).json.items;
  t.equal(expires, listed.expires, 'as the list of sessions has it');

  const byKey = await api.send({ path: '/api/self/', apiKey: key });
  const { display_name: _, expires: never, ...ofKey } = byKey.json;
  t.strictSame(ofKey, await seenBy({ apiKey: key }));
  t.strictSame([ofKey.method, ofKey.key_id, ofKey.session_id, never], ['api_key', keyId, null, null]);

  const end = new Date(Date.now() + 60_000).toISOString();
  const short = await api.mintKey(bearer, { label: 'short', scopes: ['store:read'], expires: end });
  t.equal((await api.send({ path, apiKey: short.key })).json.expires, end);
  advance(61_000);
  t.match(await api.send({ path, apiKey: short.key }), { status: 401, json: { code: 'invalid_api_key' } });

  const document = readFileSync('docs/http.md', 'utf8');
  const [, example] = /## Who is calling\n[\s\S]*?```json\n([\s\S]*?)```/.exec(document)!;
  const kinds = (value: object) => Object.entries(value).map(([name, one]) => [name, typeof one]);
  t.strictSame(kinds(JSON.parse(example!)), kinds(session.json), 'docs/http.md shows it');
});

t.test('no one else, and no other path', async (t) => {
  const { api, key, upstream } = await startForwarding(t, { endpoints: { self: 'own' } });
  const calls: [status: number, request: object][] = [
    [401, { path }],
    [401, { path, cookie: 'service_refresh_cookie=x' }],
    [405, { path, method: 'PATCH', apiKey: key }],
    [404, { path: '/api/self/settings', apiKey: key }],
    [200, { path, method: 'HEAD', apiKey: key }],
    [200, { path: '/api/selfish', apiKey: key }],
  ];
  for (const [status, request] of calls)
    t.equal((await api.send(request as { path: string })).status, status, JSON.stringify(request));
  t.strictSame(
    upstream.seen.map(({ target }) => target),
    ['/api/selfish'],
  );
});

t.test('by default the path is the upstream’s', async (t) => {
  const { api, key, upstream } = await startForwarding(t);
  t.equal((await api.send({ path, apiKey: key })).status, 200);
  t.match(upstream.seen, [{ target: path }]);
});
