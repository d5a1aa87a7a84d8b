import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import t from 'tap';
import { administrator, bootstrapToken, type TestScope } from '../support/gateway/gateway.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway/gateway-process.ts';

const isLong = process.env.POSTERN_TEST_LONG !== undefined;
const { username, password } = administrator;

/** Two processes on the same files, with an administrator. */
async function startPair(t: TestScope, sessions: object = {}): Promise<[GatewayProcess, GatewayProcess]> {
  const one = await startGatewayProcess(t, { config: { sessions } });
  const two = await startGatewayProcess(t, { config: { sessions }, folder: one.folder });
  await one.api.activate(username, password, bootstrapToken);
  return [one, two];
}

const rounds = isLong ? 200 : 3;
const timeout = isLong ? 900_000 : 600_000;
t.setTimeout(timeout);

t.test('parallel refreshes with one cookie all get the same successor', { timeout }, async (t) => {
  const inParallel = 50;
  // Longer than they take: past it the previous cookie is given another successor.
  const reuseGraceMs = 2_000;
  const [one, two] = await startPair(t, { reuse_grace: `${reuseGraceMs}ms` });
  const sessions = new Database(join(one.folder, 'sessions.db'), { readonly: true });
  t.teardown(() => sessions.close());
  const heads = sessions.prepare('SELECT generation FROM sessions').pluck();

  let { cookie } = await one.api.signIn(username, password);
  for (let round = 1; round <= rounds; round++) {
    // The current cookie has been presented, by sign-in or the end of the round before: now it may rotate.
    await sleep(reuseGraceMs + 10);
    const presented = cookie;
    const responses = await Promise.all(
      Array.from({ length: inParallel }, (_, i) => (i % 2 === 0 ? one : two).api.refresh(presented)),
    );
    const failed = responses.filter(({ status }) => status !== 200);
    const successors = new Set(responses.map(({ setCookies }) => setCookies[0]?.split(';', 1)[0]));
    t.equal(failed.length, 0, `round ${round}`);
    t.equal(successors.size, 1, 'never two live heads');
    t.same(heads.all(), [round + 1], 'one rotation a round');
    cookie = [...successors][0]!;
    t.not(cookie, presented);
    // Confirms it, in the other process than the one that may have made it.
    const confirmed = await Promise.all([one.api.refresh(cookie), two.api.refresh(cookie)]);
    for (const { setCookies } of confirmed) t.ok(setCookies[0]?.startsWith(`${cookie};`));
  }
});

t.test('a deleted key is refused by the very next request, in the other process too', async (t) => {
  const pair = await startPair(t);
  const { accessToken } = await pair[0].api.signIn(username, password);
  for (let i = 0; i < 50; i++) {
    const [here, there] = i % 2 === 0 ? pair : pair.toReversed();
    const { id, key } = await here!.api.mintKey(accessToken, { label: `key ${i}`, scopes: ['store:read'] });
    const use = async () => (await there!.api.send({ path: '/api/store/x', apiKey: key })).status;
    const uses = [await use(), await use()];
    const { status } = await here!.api.send({
      method: 'DELETE',
      path: `/api/admin/api-keys/${id}`,
      bearer: accessToken,
    });
    t.same([...uses, status, await use()], [200, 200, 204, 401], `key ${i}`);
  }
});

t.test('a signed-out session is refused by the very next request, in the other process too', async (t) => {
  const pair = await startPair(t);
  for (let i = 0; i < 50; i++) {
    const [here, there] = i % 2 === 0 ? pair : pair.toReversed();
    const { accessToken, cookie } = await here!.api.signIn(username, password);
    const use = async () => (await there!.api.send({ path: '/api/store/x', bearer: accessToken })).status;
    const uses = [await use(), await use()];
    const { status } = await here!.api.send({ path: '/api/logout', bearer: accessToken });
    t.same([...uses, status, await use()], [200, 200, 200, 401], `session ${i}`);
    t.equal((await there!.api.refresh(cookie)).status, 401);
  }
});

t.test('both processes have the same keys and take over what the other one leaves', async (t) => {
  const [one, two] = await startPair(t);
  const { accessToken, cookie } = await one.api.signIn(username, password);
  const jwks = await Promise.all([one, two].map(({ api }) => api.send({ path: '/.well-known/jwks.json' })));
  t.equal(jwks[0]!.json.keys.length, 1);
  t.same(jwks[0]!.json, jwks[1]!.json);
  t.equal(await one.stop(), 0);
  t.equal((await two.api.send({ path: '/api/store/x', bearer: accessToken })).status, 200);
  t.equal((await two.api.refresh(cookie)).status, 200);
});
