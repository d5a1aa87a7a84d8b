import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { addUser } from '../support/administration/accounts.ts';
import type { ApiClient } from '../support/clients/api-client.ts';
import { startTestGateway, type TestScope } from '../support/gateway/gateway.ts';

const path = '/api/login/access-token';
const password = 'nanoseconds are this long';
const wide = { per_account_and_address: 100, per_account: 100, per_address: 100 };

/** A gateway with two users behind a proxy that says where a request comes from. */
async function startThrottled(t: TestScope, login_throttle: object, config: object = {}) {
  const trusted_proxies = ['127.0.0.1'];
  const gateway = await startTestGateway(t, { config: { login_throttle, trusted_proxies, ...config } });
  for (const username of ['grace', 'ada']) await addUser(gateway.folder, { username, password });
  const login = (form: { username: string; password: string }, from = '192.0.2.1') =>
    gateway.api.send({ method: 'POST', path, form, headers: { 'x-forwarded-for': from } });
  const fail = async (username: string, from?: string) =>
    (await login({ username, password: 'not the password' }, from)).status;
  const succeed = async (username: string, from?: string) =>
    (await login({ username, password }, from)).status;
  return { ...gateway, login, fail, succeed };
}

t.test(
  'the pair of account and address has its limit, beyond which the correct password is refused',
  async (t) => {
    const { login, fail, succeed, logLines } = await startThrottled(t, {
      ...wide,
      per_account_and_address: 2,
    });
    t.same([await fail('grace'), await fail('grace')], [401, 401]);
    const refused = await login({ username: 'grace', password });
    t.equal(refused.status, 429);
    t.same(
      { ...refused.json, request_id: '' },
      {
        detail: 'Too many attempts',
        code: 'too_many_attempts',
        request_id: '',
        error: 'temporarily_unavailable',
        error_description: 'Too many attempts',
      },
    );
    const retryAfter = Number(refused.headers['retry-after']);
    t.ok(retryAfter > 890 && retryAfter <= 900, `Retry-After: ${retryAfter}`);
    t.notOk(refused.headers['www-authenticate']);
    t.equal(await succeed('grace', '192.0.2.2'), 200, 'from another address');
    t.equal(await succeed('ada'), 200, 'another account');
    t.match(
      logLines().filter(({ event }) => event === 'login_failed'),
      [{ reason: undefined }, { reason: undefined }, { reason: 'too_many_attempts' }],
    );
  },
);

t.test('an account has its limit over all addresses', async (t) => {
  const { fail, succeed } = await startThrottled(t, { ...wide, per_account: 3 });
  for (const host of [1, 2, 3]) t.equal(await fail('grace', `192.0.2.${host}`), 401);
  t.equal(await succeed('grace', '192.0.2.4'), 429);
  t.equal(await succeed('ada', '192.0.2.4'), 200);
});

t.test('an address has its limit over all accounts', async (t) => {
  const { fail, succeed } = await startThrottled(t, { ...wide, per_address: 3 });
  for (const username of ['one', 'two', 'three']) t.equal(await fail(username), 401);
  t.equal(await succeed('grace'), 429);
  t.equal(await succeed('grace', '192.0.2.2'), 200);
});

t.test('further attempts of a full pair or address do not use up the account', async (t) => {
  const limits = { per_account_and_address: 2, per_account: 6, per_address: 3 };
  const { fail, succeed } = await startThrottled(t, limits);
  for (let i = 0; i < 20; i++) await fail('grace', '192.0.2.1');
  for (let i = 0; i < 3; i++) await fail(`somebody ${i}`, '192.0.2.2');
  for (let i = 0; i < 20; i++) t.equal(await fail('grace', '192.0.2.2'), 429);
  t.same([await fail('grace', '192.0.2.3'), await fail('grace', '192.0.2.3')], [401, 401]);
  t.equal(await fail('grace', '192.0.2.4'), 401, 'five of six are counted');
  t.equal(await succeed('grace', '192.0.2.4'), 200);
});

t.test('a success gives its own attempt back, and only that', async (t) => {
  const { fail, succeed } = await startThrottled(t, { ...wide, per_account_and_address: 2 });
  t.equal(await fail('grace'), 401);
  for (let i = 0; i < 5; i++) t.equal(await succeed('grace'), 200);
  t.equal(await fail('grace'), 401);
  t.equal(await succeed('grace'), 429);
});

t.test(
  'attempts are counted before they are judged: parallel ones do not slip through together',
  async (t) => {
    const { fail } = await startThrottled(t, { ...wide, per_account_and_address: 5 });
    const responses = await Promise.all(Array.from({ length: 20 }, () => fail('grace')));
    t.equal(responses.filter((status) => status === 401).length, 5);
    t.equal(responses.filter((status) => status === 429).length, 15);
  },
);

t.test('a malformed request is not an attempt', async (t) => {
  const { api, succeed } = await startThrottled(t, { ...wide, per_account_and_address: 1 });
  const form = { username: 'grace', password: 'not it, either', grant_type: 'implicit' };
  const headers = { 'x-forwarded-for': '192.0.2.1' };
  for (let i = 0; i < 3; i++) t.equal((await api.send({ method: 'POST', path, form, headers })).status, 422);
  t.equal(await succeed('grace'), 200);
});

t.test('every spelling of a name is the same account, whether or not it exists', async (t) => {
  for (const names of [
    ['grace', ' GRACE ', 'Ｇrace'],
    ['nobody', '\tNobody ', 'ＮＯＢＯＤＹ'],
  ] as const) {
    const { fail } = await startThrottled(t, { ...wide, per_account: 3 });
    for (const name of names) t.equal(await fail(name), 401, JSON.stringify(name));
    for (const name of names) t.equal(await fail(name), 429, JSON.stringify(name));
  }
});

t.test('a full window is refused without hashing, and lets in again when it ends', async (t) => {
  const { login, fail, succeed, advance } = await startThrottled(
    t,
    { ...wide, per_account_and_address: 1, window: '1m' },
    // Nothing may wait: whatever wants to hash while another hash is worked out is 503.
    { passwords: { memory: '64MiB', iterations: 5, queue: 0 } },
  );
  t.equal(await fail('grace'), 401);
  const slow = succeed('ada', '192.0.2.9');
  await sleep(20);
  const refused = await login({ username: 'grace', password });
  t.match(refused, { status: 429, headers: { 'retry-after': /^[1-6]\d?$/ } });
  t.equal(await slow, 200);
  advance(60_000);
  t.equal(await succeed('grace'), 200);
});

t.test('counters in the file of the sessions outlive a restart, and are one for all processes', async (t) => {
  const config = { login_throttle: { ...wide, per_account_and_address: 2 } };
  const one = await startTestGateway(t, { config });
  await addUser(one.folder, { username: 'grace', password });
  const other = await startTestGateway(t, { config, folder: one.folder });
  const login = async ({ api }: { readonly api: ApiClient }, tried: string) =>
    (await api.send({ method: 'POST', path, form: { username: 'grace', password: tried } })).status;
  t.equal(await login(one, 'wrong'), 401);
  t.equal(await login(other, password), 200, 'given back');
  t.equal(await login(other, 'wrong'), 401);
  t.same([await login(one, password), await login(other, password)], [429, 429]);
  await one.stop();
  await other.stop();
  const restarted = await startTestGateway(t, { config, folder: one.folder });
  t.equal(await login(restarted, password), 429);
  restarted.advance(900_000);
  t.equal(await login(restarted, password), 200);
});
