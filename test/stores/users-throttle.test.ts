import { startUserAdministration, userPassword } from '../support/administration/user-administration.ts';
import { testOnEveryStore } from '../support/stores/every-store.ts';

testOnEveryStore('what is counted against a user is shown, and lifted', async (t, stores) => {
  const { users, api, create, keyWith, auditOf, administratorId } = await startUserAdministration(t, {
    ...stores,
    login_throttle: { per_account_and_address: 2, per_account: 4, per_address: 100, window: '15m' },
    trusted_proxies: ['127.0.0.1'],
  });
  const { id } = await create('Grace');
  const throttleOf = async (of = id) => (await users('GET', `${of}/throttle`)).json;
  const signIn = async (password: string, address: string) => {
    const headers = { 'x-forwarded-for': address };
    const form = { username: ' GRACE', password };
    return (await api.send({ method: 'POST', path: '/api/login/access-token', form, headers })).status;
  };
  const [first, second, third] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'] as const;
  t.strictSame(await throttleOf(), { failures: 0, window_ends: null, refusing: false });
  t.equal(await signIn('wrong', first), 401);
  const { window_ends, ...one } = await throttleOf();
  t.strictSame(one, { failures: 1, refusing: false });
  const inMs = Date.parse(window_ends) - Date.now();
  t.ok(inMs > 14 * 60_000 && inMs <= 15 * 60_000 + 1_000, window_ends);

  t.equal(await signIn('wrong', first), 401);
  t.equal(await signIn(userPassword, first), 429);
  t.match(await throttleOf(), { failures: 2, refusing: true }, 'from that address');
  t.equal((await users('DELETE', `${id}/throttle`)).status, 204);
  t.strictSame(await throttleOf(), { failures: 0, window_ends: null, refusing: false });
  t.equal(
    await signIn(userPassword, first),
    200,
    'the counter of the account and the address is lifted, too',
  );

  for (const address of [first, first, second, second]) t.equal(await signIn('wrong', address), 401);
  t.equal(await signIn(userPassword, third), 429);
  t.match(await throttleOf(), { failures: 4, refusing: true }, 'from anywhere');
  t.equal((await users('DELETE', `${id}/throttle/`)).status, 204);
  t.equal(await signIn(userPassword, third), 200);
  t.equal((await users('DELETE', `${id}/throttle`)).status, 204, 'nothing is left to lift');

  const writer = await keyWith('users:write');
  t.equal(
    (await users('DELETE', `${administratorId}/throttle`, undefined, writer)).json.code,
    'insufficient_scope',
  );
  t.equal((await users('DELETE', `${id}/throttle`, undefined, writer)).status, 204);
  t.equal((await users('GET', `${id}/throttle`, undefined, writer)).status, 403);
  for (const method of ['GET', 'DELETE']) t.equal((await users(method, 'nobody/throttle')).status, 404);
  t.strictSame(
    (await auditOf(id)).map(({ event }) => event),
    ['user_created', ...Array.from({ length: 4 }, () => 'throttle_lifted')],
  );
});
