import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { stringify } from 'yaml';
import type { ApiRequest, ApiResponse } from '../support/clients/api-client.ts';
import { describingLines, sendQuestion } from '../support/clients/decisions.ts';
import { eventually } from '../support/eventually.ts';
import { commandsOn } from '../support/gateway/commands-on.ts';
import { administrator, bootstrapToken, testConfig } from '../support/gateway/gateway.ts';
import { startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { reload } from '../support/gateway/reload.ts';
import { guessPort } from '../support/servers/loopback-port.ts';
import { startRecordingUpstream } from '../support/servers/recording-upstream.ts';

/** Each on a connection of its own, which the system gives to either worker. */
const many = 24;
const base64 = (text: string) => Buffer.from(text).toString('base64');
const { username, password } = administrator;

/** Two workers on that engine in front of an application that has headers, paths and credentials of its own. */
async function startApplication(t: Test, engine: string) {
  const upstream = await startRecordingUpstream();
  t.teardown(() => upstream.close());
  const file = join(t.testdir({ secret: 'first secret\n' }), 'secret');
  const decisionPort = guessPort();
  const config = {
    workers: 2,
    listen: { engine },
    api_keys: { basic: true },
    headers: { pass: ['X-Auth-Token'] },
    upstreams: {
      app: { url: upstream.url, headers: { 'X-Shared-Secret': { file } } },
      files: { url: `${upstream.url}/app` },
    },
    routes: [
      { prefix: '/own', upstream: 'app', authorization: 'pass', public: true },
      { prefix: '/files', upstream: 'files', strip_prefix: '/files', paths: { encoded_delimiters: 'pass' } },
      { prefix: '/both', upstream: 'app', challenge: 'both' },
      { prefix: '/graph', upstream: 'app', cors: 'upstream' },
      { prefix: '/api', upstream: 'app' },
    ],
    forward_auth: [{ mode: 'haproxy', port: decisionPort }],
  };
  const gateway = await startGatewayProcess(t, { config });
  const { api } = gateway;
  await api.activate(username, password, bootstrapToken);
  const { accessToken } = await api.signIn(username, password);
  const { key } = await api.mintKey(accessToken, { label: 'k', scopes: ['store:read'] });
  /** The response of every worker; throws if they differ in their status. */
  const sendToAll = async (request: ApiRequest): Promise<ApiResponse> => {
    const responses = await Promise.all(Array.from({ length: many }, () => api.send(request)));
    const statuses = new Set(responses.map(({ status }) => status));
    if (statuses.size > 1) throw new Error(`${request.path}: ${[...statuses]}`);
    return responses[0]!;
  };
  /** The different values of a header that the upstream has seen; clears its record. */
  const takeSeen = (name: string) => [
    ...new Set(upstream.seen.splice(0).flatMap((request) => request.values(name))),
  ];
  return { gateway, config, file, key, decisionPort, upstream, sendToAll, takeSeen };
}

for (const engine of isLong ? ['built_in', 'node'] : ['built_in'])
  t.test(`applications as they are, over two workers, with the engine ${engine}`, async (t) => {
    const { gateway, config, file, key, decisionPort, upstream, sendToAll, takeSeen } =
      await startApplication(t, engine);
    const basic = { authorization: `Basic ${base64(`ada:${key}`)}` };

    t.equal((await sendToAll({ path: '/api/x', headers: basic })).status, 200, 'a key by Basic');
    t.notMatch(JSON.stringify(upstream.seen.map(({ rawHeaders }) => rawHeaders)), base64(key).slice(4, 40));
    t.strictSame(takeSeen('authorization'), []);
    const foreign = { ...basic, 'sec-fetch-site': 'cross-site' };
    t.equal((await sendToAll({ path: '/api/x', headers: foreign })).status, 403);
    t.match((await sendToAll({ path: '/both' })).headers, { 'www-authenticate': /^Bearer .*, Basic / });

    const preflight = { origin: 'https://a.example', 'access-control-request-method': 'PUT' };
    t.equal((await sendToAll({ method: 'OPTIONS', path: '/graph', headers: preflight })).status, 200);
    t.strictSame(takeSeen('x-shared-secret'), [], 'a preflight carries no fixed header');

    t.equal((await sendToAll({ path: '/files/C%23.txt', apiKey: key })).status, 200);
    t.ok(upstream.seen.every(({ target }) => target === '/app/C%23.txt'));
    t.strictSame(takeSeen('x-forwarded-prefix'), ['/files']);
    t.equal((await sendToAll({ path: '/api/C%23.txt', apiKey: key })).status, 400);

    await t.test('what is the application’s own passes, and a key of any prefix is ours', async (t) => {
      const passed = { authorization: 'Token mine', 'x-auth-token': 'its own' };
      t.equal((await sendToAll({ path: '/own', headers: passed })).status, 200);
      const { rawHeaders } = upstream.seen[0]!;
      for (const value of Object.values(passed)) t.ok(rawHeaders.includes(value), value);
      upstream.seen.length = 0;
      // By another process, whose configuration has a prefix that no worker knows.
      const other = join(gateway.folder, 'other.yaml');
      writeFileSync(other, stringify(testConfig(upstream.url, { api_keys: { prefix: 'third' } })));
      const created = await commandsOn(other)([
        ...['key', 'create', '--user', username, '--label', 'l', '--scopes', 'store:read'],
      ]);
      const third = created.stdout.trim();
      t.match(third, /^third_/);
      const asToken = { authorization: `Token ${third}` };
      t.equal((await sendToAll({ path: '/own', headers: asToken })).status, 401);
      t.equal((await sendToAll({ path: '/own', headers: { 'x-api-key': third } })).status, 200);
      const [line, described] = describingLines('haproxy', 'GET', '/own');
      for (const [value, status] of [
        [third, 401],
        ['mine', 200],
      ] as const) {
        const lines = ['Host: a', `Authorization: Token ${value}`, ...described];
        const answers = await Promise.all(
          Array.from({ length: many }, () => sendQuestion(decisionPort, line, lines)),
        );
        t.strictSame([...new Set(answers.map((answer) => answer.status))], [status], 'in decisions, too');
      }
      t.notMatch(JSON.stringify(upstream.seen.map(({ rawHeaders }) => rawHeaders)), third);
    });

    await t.test('a fixed header changes with its file, in every worker', async (t) => {
      upstream.seen.length = 0;
      t.equal((await sendToAll({ path: '/api/x', apiKey: key })).status, 200);
      t.strictSame(takeSeen('x-shared-secret'), ['first secret']);
      writeFileSync(file, 'second secret\n');
      reload(gateway, config);
      await eventually('the new configuration', () =>
        gateway.logLines().some(({ msg }) => msg === 'configuration reloaded'),
      );
      await sendToAll({ path: '/api/x', apiKey: key });
      t.strictSame(takeSeen('x-shared-secret'), ['second secret']);
    });

    const odd = { 'x-auth-role': 'a', 'x-script-name': '/a' };
    const removed = () =>
      gateway
        .logLines()
        .filter(({ msg }) => msg === 'headers of clients removed')
        .map(({ header, route }) => `${header} ${route}`)
        .sort();
    for (let times = 0; times < 2; times++) {
      await sendToAll({ path: '/api/x', apiKey: key, headers: odd });
      await eventually('both lines', () => removed().length >= 2);
    }
    t.equal(await gateway.stop(), 0);
    t.strictSame(removed(), ['X-Auth- /api', 'mount points /api'], 'one line for all workers');
  });
