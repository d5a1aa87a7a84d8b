import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { mintApiKey } from '../../src/credentials/api-key.ts';
import { refusals } from '../../src/errors.ts';
import { connectRaw } from '../support/clients/raw-client.ts';
import { eventually } from '../support/eventually.ts';
import { administrator, bootstrapToken, startTestGateway } from '../support/gateway/gateway.ts';
import { startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { isLong, repeat } from '../support/gateway/gateway-under-load.ts';
import { scrape } from '../support/gateway/scrape.ts';

const { username, password } = administrator;
const loginPath = '/api/login/access-token';

async function startActivated(t: Test, config: object = {}) {
  const gateway = await startTestGateway(t, { config });
  await gateway.api.activate(username, password, bootstrapToken);
  return { ...gateway, metrics: () => scrape(gateway.managementPort) };
}

t.test('sign-ins and refreshes are counted by what they came to', async (t) => {
  const { api, advance, metrics } = await startActivated(t);
  const logIn = (name: string, secret: string) =>
    api.send({ method: 'POST', path: loginPath, form: { username: name, password: secret } });
  const before = await metrics();
  t.equal(
    before.value('logins_total', { method: 'password', outcome: 'success' }),
    0,
    'there before the first',
  );
  const { cookie: first } = await api.signIn(username, password);
  await api.signIn(username, password);
  t.equal((await logIn(username, 'the wrong password')).status, 401);
  t.equal((await logIn('nobody', password)).status, 401);
  t.equal((await logIn(username, 'the wrong password again')).status, 401);
  t.equal((await api.send({ method: 'POST', path: loginPath, form: { username } })).status, 422);

  const refresh = async (cookie: string, status: number) => {
    const response = await api.refresh(cookie);
    t.equal(response.status, status);
    return response.setCookies[0]?.split(';', 1)[0] ?? '';
  };
  t.equal(await refresh(first, 200), first, 'current');
  advance(31_000);
  const second = await refresh(first, 200);
  t.not(second, first, 'rotated');
  await refresh(second, 200);
  advance(31_000);
  await refresh(first, 401);
  await refresh(second, 401);
  await refresh('', 401);

  const after = await metrics();
  const logins = (outcome: string) => after.value('logins_total', { method: 'password', outcome });
  t.equal(logins('success'), 2);
  t.equal(logins('failure'), 3, 'one whose form is wrong was none');
  const refreshes = (outcome: string) => after.value('refreshes_total', { outcome });
  t.strictSame({ current: refreshes('current'), rotated: refreshes('rotated') }, { current: 2, rotated: 1 });
  t.strictSame({ reused: refreshes('reused'), refused: refreshes('refused') }, { reused: 1, refused: 2 });
  t.equal(after.value('reuse_alarms_total'), 1);
});

t.test('requests, refusals and keys are counted where they belong', async (t) => {
  const { api, port, metrics } = await startActivated(t);
  const { accessToken: bearer } = await api.signIn(username, password);
  const { id, key } = await api.mintKey(bearer, { label: 'k', scopes: ['store:read'] });
  const send = async (status: number, request: object) =>
    t.equal((await api.send({ path: '/api/store/a', ...request })).status, status);
  await send(200, { apiKey: key });
  await send(200, { apiKey: key, method: 'HEAD' });
  await send(403, { apiKey: key, method: 'POST' });
  await send(401, { apiKey: `${key.slice(0, -1)}!` });
  await send(401, { apiKey: mintApiKey('pst', randomBytes).raw });
  await send(401, { bearer: 'no-token-at-all' });
  await send(200, { bearer });
  await send(404, { bearer, path: '/nowhere' });
  await send(204, { bearer, path: `/api/admin/api-keys/${id}`, method: 'DELETE' });
  await send(401, { apiKey: key });
  const raw = await connectRaw(port);
  raw.write('GET  /api/store HTTP/1.1\r\nHost: a\r\n\r\n');
  t.equal((await raw.response()).status, 400);

  const after = await metrics();
  const store = (labels: object) => after.value('requests_total', { route: '/api/store', ...labels });
  t.equal(store({ method: 'read', status: '200', outcome: 'ok' }), 3);
  t.equal(store({ method: 'write', status: '403', outcome: 'insufficient_scope' }), 1);
  t.equal(store({ status: '401', outcome: 'invalid_api_key' }), 3);
  t.equal(after.value('request_duration_seconds_count', { route: '/api/store' }), store({}));
  t.equal(after.value('request_own_seconds_count', { route: '/api/store' }), store({}));
  t.equal(after.value('requests_total', { route: '', status: '400', outcome: 'bad_request' }), 1);
  const verifications = (outcome: string) => after.value('key_verifications_total', { outcome });
  t.strictSame([verifications('accepted'), verifications('refused')], [3, 3]);
  const refused = (code: string) => after.value('refusals_total', { code });
  t.strictSame(
    ['insufficient_scope', 'invalid_api_key', 'invalid_token', 'not_found', 'bad_request'].map(refused),
    [1, 3, 1, 1, 1],
  );
  t.equal(after.value('refusals_total'), 7, 'and nothing else');
  const codes = after.families.get('postern_refusals_total')!.samples.map(({ labels }) => labels.code);
  t.strictSame(codes.sort(), [...Object.keys(refusals), 'validation_error'].sort());
});

t.test('distinct paths, keys, tokens, users and addresses make no series', async (t) => {
  const { api, metrics } = await startActivated(t, { trusted_proxies: ['127.0.0.1'] });
  const knock = async (n: number) => {
    const { raw } = mintApiKey('pst', randomBytes);
    await api.send({ path: `/api/store/${n}?x=${n}`, apiKey: raw, headers: { 'x-request-id': `r${n}` } });
    await api.send({ path: `/api/open/${n}`, headers: { 'x-forwarded-for': `10.0.${n >> 8}.${n & 255}` } });
    await api.send({ path: `/nowhere/${n}`, bearer: `token-${n}` });
    await api.send({ path: `/api/login/provider-${n}/start` });
    await api.send({ path: `/api/admin/api-keys/${n}`, method: 'DELETE' });
    await api.send({ method: 'POST', path: loginPath, form: { username: `${n}`, password: 'a' } });
  };
  const seriesNow = async () =>
    [...(await metrics()).series].filter((series) => !series.startsWith('["postern_nodejs_'));
  await repeat(200, 1, knock);
  const before = await seriesNow();
  await repeat(isLong ? 10_000 : 100, 8, (n) => knock(1_000 + n));
  t.strictSame(await seriesNow(), before);
});

t.test('it says what runs, and whether the configuration read last is what runs', async (t) => {
  const gateway = await startGatewayProcess(t);
  const isLastGood = async () =>
    (await scrape(gateway.managementPort)).value('config_last_reload_successful') === 1;
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const node = process.versions.node;
  t.equal((await scrape(gateway.managementPort)).value('build_info', { version, node }), 1);
  t.ok(await isLastGood(), 'it started with it');
  gateway.configure({ nope: 1 });
  process.kill(gateway.pid!, 'SIGHUP');
  await eventually('the failure', async () => !(await isLastGood()));
  gateway.configure({ log: { level: 'warn' } });
  process.kill(gateway.pid!, 'SIGHUP');
  await eventually('the success', isLastGood);
});
