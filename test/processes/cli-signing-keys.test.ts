import { decodeProtectedHeader } from 'jose';
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { createCommandFolder, type ServeProcess } from '../support/gateway/command.ts';

const password = 'correct horse battery staple';
const input = `${password}\n`;
const asset = { path: '/api/store/asset/1' };
const kidOf = (token: string) => decodeProtectedHeader(token).kid;

async function publishedBy({ api }: ServeProcess): Promise<readonly string[]> {
  const { json } = await api.send({ path: '/.well-known/jwks.json' });
  return json.keys.map(({ kid }: { readonly kid: string }) => kid);
}

/** A gateway, someone who can sign in, and what the commands are run in. */
async function startWithUser(t: Parameters<typeof createCommandFolder>[0]) {
  const folder = createCommandFolder(t);
  const gateway = await folder.serve();
  await folder.run(['user', 'add', 'ada', '--scopes', 'store:read'], { input });
  const list = async () => (await folder.run(['signing-key', 'list', '--json'])).json;
  /** The newest key of a purpose: two may have been made in one millisecond. */
  const newest = async (wanted: string) => (await list()).find(({ purpose }: any) => purpose === wanted);
  return { folder, gateway, list, newest, signIn: () => gateway.api.signIn('ada', password) };
}

t.test('the keys are listed without anything private', async (t) => {
  const { folder, gateway, list, newest } = await startWithUser(t);
  const keys = [await newest('cookie'), await newest('access-token')];
  t.equal((await list()).length, keys.length);
  t.match(keys, [
    { purpose: 'cookie', algorithm: 'HS256', status: 'current', expires: null },
    { purpose: 'access-token', algorithm: 'ES256', status: 'current', expires: null },
  ]);
  const month = 30 * 86_400_000;
  for (const key of keys) {
    t.equal(Date.parse(key.signs_until) - Date.parse(key.signs_from), month);
    t.same(
      Object.keys(key),
      'kid purpose algorithm status published signs_from signs_until expires'.split(' '),
    );
  }
  t.same([keys[1].kid], await publishedBy(gateway));
  const { stdout } = await folder.run(['signing-key', 'list']);
  t.match(stdout, /^KID +PURPOSE +ALGORITHM +STATUS +PUBLISHED +SIGNS FROM +UNTIL +EXPIRES\n/);
  for (const { kid } of keys) t.match(stdout, kid);
});

t.test('a rotation publishes the next key, which signs when it has been out for long enough', async (t) => {
  const { folder, gateway, newest, signIn } = await startWithUser(t);
  const current = await newest('access-token');
  const asked = Date.now();
  const rotated = await folder.run(['signing-key', 'rotate', '--purpose', 'access-token', '--json']);
  const [next] = rotated.json;
  t.match(next, { purpose: 'access-token', algorithm: 'ES256', signs_now: false });
  const ahead = Date.parse(next.signs_from) - asked;
  t.ok(ahead >= 600_000 && ahead < 660_000, 'after ten minutes');
  t.match(rotated.audit, [
    {
      event: 'signing_key_requested',
      actor: { kind: 'command_line' },
      target: { type: 'signing_key', id: current.kid },
    },
  ]);
  t.same(await publishedBy(gateway), [next.kid, current.kid]);
  t.equal(kidOf((await signIn()).accessToken), current.kid);
  const again = await folder.run(['signing-key', 'rotate', '--purpose', 'access-token', '--json']);
  t.same(again.json, rotated.json, 'asking again changes nothing');
  t.match(await newest('access-token'), { kid: next.kid, status: 'next', signs_from: next.signs_from });

  const all = await folder.run(['signing-key', 'rotate']);
  t.match(all.stdout, /^access-token ES256: \S+ signs from .*Z\ncookie HS256: \S+ signs from .*Z\n$/);
});

t.test('a revoked key is refused within a second, and sessions go on', async (t) => {
  const { folder, gateway, newest, signIn } = await startWithUser(t);
  const second = await folder.serve();
  const { accessToken: old, cookie } = await signIn();
  const works = async (each: ServeProcess, bearer: string) =>
    (await each.api.send({ ...asset, bearer })).status === 200;
  for (const each of [gateway, second]) t.ok(await works(each, old));
  const { kid } = await newest('access-token');

  const revoked = await folder.run(['signing-key', 'revoke', kid]);
  const next = await newest('access-token');
  t.match(revoked, { code: 0, stdout: `${next.kid} signs now.\n` });
  t.match(revoked.audit, [{ event: 'signing_key_revoked', target: { type: 'signing_key', id: kid } }]);
  for (const each of [gateway, second]) {
    await eventually('it is refused', async () => !(await works(each, old)));
    t.same(await publishedBy(each), [next.kid]);
  }
  const { status, json } = await gateway.api.refresh(cookie);
  t.equal(status, 200, 'the session goes on');
  t.equal(kidOf(json.access_token), next.kid);
  for (const each of [gateway, second]) t.ok(await works(each, json.access_token));
  t.match(await folder.run(['signing-key', 'revoke', kid]), {
    code: 1,
    stderr: `postern: no signing key with kid "${kid}": signing-key list shows them\n`,
  });
});

t.test('the next key that is revoked never signs', async (t) => {
  const { folder, list, newest } = await startWithUser(t);
  await folder.run(['signing-key', 'rotate', '--purpose', 'access-token']);
  const next = await newest('access-token');
  await folder.run(['signing-key', 'revoke', next.kid]);
  const kids = async () => (await list()).map(({ kid }: any) => kid);
  t.notOk((await kids()).includes(next.kid));
  await eventually('another one is to be the next', async () => (await list()).length === 3);
});

t.test('cookies of a revoked secret end, and their sessions do not', async (t) => {
  const { folder, gateway, newest, signIn } = await startWithUser(t);
  const { accessToken, cookie } = await signIn();
  const { kid } = await newest('cookie');
  await folder.run(['signing-key', 'revoke', kid]);
  await eventually('the cookie is refused', async () => (await gateway.api.refresh(cookie)).status === 401);
  t.equal((await gateway.api.send({ ...asset, bearer: accessToken })).status, 200);
  const fresh = await signIn();
  t.equal((await gateway.api.refresh(fresh.cookie)).status, 200);
});

t.test('unknown purposes and keys are refused', async (t) => {
  const folder = createCommandFolder(t);
  t.match(await folder.run(['signing-key', 'rotate', '--purpose', 'password']), {
    code: 2,
    stderr: /--purpose must be one of access-token, assertion, cookie/,
  });
  t.match(await folder.run(['signing-key', 'list', '--create']), {
    code: 0,
    stdout: 'There are no keys yet.\n',
  });
  t.match(await folder.run(['signing-key', 'revoke']), { code: 2 });
  const first = await folder.run(['signing-key', 'rotate', '--purpose', 'cookie']);
  t.match(first, { code: 0, stdout: /^cookie HS256: \S+ signs now\n$/ }, 'the first key of a store');
});
