import { cpSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { addUser } from '../support/administration/accounts.ts';
import { startTestGateway, type TestGateway, type TestScope } from '../support/gateway/gateway.ts';

const username = 'grace';
const password = 'nanoseconds are this long';
const graceMs = 30_000;
const dayMs = 86_400_000;

async function startSignedIn(t: TestScope) {
  const gateway = await startTestGateway(t);
  await addUser(gateway.folder, { username, password, scopes: ['store:read'] });
  const { cookie: first, accessToken } = await gateway.api.signIn(username, password);
  return { ...gateway, first, accessToken, refresh: refresherOf(gateway) };
}

/** Refreshes and gives the cookie that comes back; throws when none does. */
function refresherOf({ api }: Pick<TestGateway, 'api'>) {
  return async (cookie: string): Promise<string> => {
    const { status, setCookies } = await api.refresh(cookie);
    if (status !== 200) throw new Error(`refresh was answered ${status}`);
    return setCookies[0]!.split(';', 1)[0]!;
  };
}

const generationOf = (cookie: string) => Number(cookie.split('.')[1]);

t.test('the cookie of a sign-in stays for the grace, then rotates by one generation', async (t) => {
  const { first, refresh, advance } = await startSignedIn(t);
  t.equal(await refresh(first), first);
  advance(graceMs - 2000);
  t.equal(await refresh(first), first, 'just before the end of the grace');
  advance(2000);
  const second = await refresh(first);
  t.equal(generationOf(second), 2);
  t.equal(await refresh(second), second, 'its first presentation only confirms it');
  advance(graceMs);
  t.equal(generationOf(await refresh(second)), 3);
});

t.test(
  "a tab that refreshes twice doesn't sign the user out while another still sends the first cookie",
  async (t) => {
    const { first, refresh, advance } = await startSignedIn(t);
    advance(graceMs);
    const second = await refresh(first);
    t.equal(await refresh(second), second);
    advance(graceMs - 2000);
    t.equal(await refresh(first), second, 'the other tab gets the same successor');
    advance(2000);
    t.equal(generationOf(await refresh(second)), 3);
  },
);

t.test('a lost response is made good by another successor, however much later', async (t) => {
  const { api, first, refresh, advance } = await startSignedIn(t);
  advance(graceMs);
  const lost = await refresh(first);
  advance(graceMs - 2000);
  t.equal(await refresh(first), lost, 'within the grace the same one');
  advance(2000);
  let successor = lost;
  for (const [index, days] of [0, 1, 9, 13].entries()) {
    advance(days * dayMs);
    successor = await refresh(first);
    t.equal(generationOf(successor), 3 + index, `${days} days later`);
    advance(graceMs);
  }
  t.equal(await refresh(successor), successor);
  t.equal((await api.refresh(lost)).status, 401, 'what never arrived is worth nothing');
  t.equal((await api.refresh(successor)).status, 401, 'and presenting it is reuse');
});

t.test('two holders who refresh in step with one cookie are detected', async (t) => {
  const { api, first, refresh, advance } = await startSignedIn(t);
  advance(600_000);
  const owners = await refresh(first);
  advance(300_000);
  const thiefs = await refresh(first);
  t.not(thiefs, owners);
  advance(300_000);
  t.equal((await api.refresh(owners)).status, 401);
  t.equal((await api.refresh(thiefs)).status, 401);
});

t.test('the newest of several cookies of one session counts', async (t) => {
  const { first, refresh, advance } = await startSignedIn(t);
  advance(graceMs);
  const second = await refresh(first);
  await refresh(second);
  advance(graceMs);
  const third = await refresh(`${first}; ${second}`);
  t.equal(generationOf(third), 3);
  t.equal(await refresh(`${third}; ${first}`), third, 'the first by itself would be reuse');
});

t.test('an older cookie is reuse: 401, and the session is dead, also after a restart', async (t) => {
  const { api, first, accessToken, refresh, advance, folder, logLines, stop } = await startSignedIn(t);
  advance(graceMs);
  const second = await refresh(first);
  await refresh(second);
  advance(graceMs);

  const reused = await api.refresh(first);
  t.match(reused, { status: 401, json: { code: 'invalid_refresh_token', error: 'invalid_grant' } });
  t.same(reused.setCookies, []);
  t.equal((await api.refresh(second)).status, 401);
  t.equal((await api.send({ path: '/api/store/x', bearer: accessToken })).status, 401);
  t.equal((await api.refresh(first)).status, 401);
  t.equal(logLines().filter(({ event }) => event === 'refresh_token_reused').length, 1);

  await stop();
  const restarted = await startTestGateway(t, { folder });
  t.equal((await restarted.api.refresh(second)).status, 401);
  t.equal((await restarted.api.send({ path: '/api/store/x', bearer: accessToken })).status, 401);
  t.equal((await restarted.api.refresh(first)).status, 401);
});

t.test('a cookie two generations old is reuse even when the newest was never presented', async (t) => {
  const { api, first, refresh, advance } = await startSignedIn(t);
  advance(graceMs);
  const second = await refresh(first);
  await refresh(second);
  advance(graceMs);
  const third = await refresh(second);
  t.equal((await api.refresh(first)).status, 401);
  t.equal((await api.refresh(third)).status, 401);
});

t.test('a session survives a restart', async (t) => {
  const { first, accessToken, stop, folder } = await startSignedIn(t);
  await stop();
  const restarted = await startTestGateway(t, { folder });
  t.equal((await restarted.api.send({ path: '/api/store/x', bearer: accessToken })).status, 200);
  const refresh = refresherOf(restarted);
  restarted.advance(graceMs);
  t.equal(generationOf(await refresh(first)), 2);
});

t.test('a cookie newer than a store that lost its last writes becomes the current one', async (t) => {
  const before = await startSignedIn(t);
  const { first, folder } = before;
  const file = join(folder, 'sessions.db');
  await before.stop();
  cpSync(file, `${file}.yesterday`);

  const rotating = await startTestGateway(t, { folder });
  rotating.advance(graceMs);
  const second = await refresherOf(rotating)(first);
  await refresherOf(rotating)(second);
  rotating.advance(graceMs);
  const third = await refresherOf(rotating)(second);
  await rotating.stop();
  cpSync(`${file}.yesterday`, file);

  const rolledBack = await startTestGateway(t, { folder });
  const refresh = refresherOf(rolledBack);
  t.equal(await refresh(third), third);
  t.equal(await refresh(second), third, 'the one before it has the grace');
  rolledBack.advance(graceMs);
  t.equal(generationOf(await refresh(third)), 4);
  t.equal((await rolledBack.api.refresh(first)).status, 401, 'an older one is reuse again');
});
