import t from 'tap';
import { sendQuestion } from '../support/clients/decisions.ts';
import { eventually } from '../support/eventually.ts';
import { type Forwarding, startForwarding } from '../support/gateway/forwarding.ts';

const hour = 3_600_000;
const message = 'headers of clients removed';

/** The access line of the request whose target ends so. */
const lineOf = (gateway: Forwarding, path: string) =>
  eventually(`the line of ${path}`, () =>
    gateway.logLines().find((line) => line.msg === 'request' && line.path === path),
  );

const hourly = (gateway: Forwarding) =>
  gateway
    .logLines()
    .filter(({ msg }) => msg === message)
    .map(({ level, header, route, count }) => ({ level, header, route, count }));

const own = { authorization: 'Basic YXBwOnNlY3JldC1vZi1pdHM=' };

t.test('at debug an access line names what was removed; values never stand in the log', async (t) => {
  const gateway = await startForwarding(t, { log: { level: 'debug' } });
  gateway.secrets.add('value-of-a-header');
  gateway.secrets.add('YXBwOnNlY3JldC1vZi1pdHM=');
  const value = 'value-of-a-header';
  const headers = {
    'X-Auth-Token': value,
    X_Odd: value,
    'X-Script-Name': value,
    'X-Fine': value,
    TE: 'trailers',
  };
  await gateway.api.send({ path: '/api/open/1', headers: { ...headers, ...own } });
  const { removed } = await lineOf(gateway, '/api/open/1');
  t.strictSame(
    [...(removed as string[])].sort(),
    ['X-Auth-Token', 'X-Script-Name', 'X_Odd', 'authorization'].sort(),
  );
  await gateway.api.send({ path: '/api/store/2', apiKey: gateway.key, headers: { 'X-Fine': value } });
  t.notOk('removed' in (await lineOf(gateway, '/api/store/2')), 'a credential that was judged is no loss');
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`X_${index}`, value]));
  await gateway.api.send({ path: '/api/open/3', headers: many });
  t.equal(((await lineOf(gateway, '/api/open/3')).removed as string[]).length, 16);
});

t.test('at info one line an hour for a route and a kind says how often, and names no name', async (t) => {
  const gateway = await startForwarding(t);
  const headers = { 'X-Auth-Token': 'a', X_Odd: 'b', 'X-Forwarded-Prefix': '/c', ...own };
  await gateway.api.send({ path: '/api/open/x', headers });
  await gateway.api.send({ path: '/api/store/x', apiKey: gateway.key, headers: { 'X-Auth-Token': 'a' } });
  const of = (header: string, route: string, count: number) => ({ level: 'info', header, route, count });
  await eventually('the lines', () => hourly(gateway).length === 5);
  const byText = (one: object, other: object) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);
  t.strictSame(
    hourly(gateway).sort(byText),
    [
      of('Authorization', '/api/open', 1),
      of('X-Auth-', '/api/open', 1),
      of('X-Auth-', '/api/store', 1),
      of('mount points', '/api/open', 1),
      of('odd names', '/api/open', 1),
    ].sort(byText),
  );
  t.notOk('removed' in (await lineOf(gateway, '/api/open/x')));
  for (let i = 0; i < 3; i++) await gateway.api.send({ path: '/api/open/y', headers: { X_Odd: 'b' } });
  gateway.advance(hour);
  await eventually('a further line', () => hourly(gateway).length === 6);
  t.strictSame(hourly(gateway).at(-1), of('odd names', '/api/open', 3), 'all of the hour in one');
  t.notMatch(JSON.stringify(hourly(gateway)), /X_Odd|Token/);
});

t.test('what Envoy is told to remove counts as well', async (t) => {
  const gateway = await startForwarding(t, { forward_auth: [{ mode: 'envoy', port: 0 }] });
  const lines = ['Host: a', `X-API-Key: ${gateway.key}`, 'X-Auth-Role: admin', 'X-Rewrite-URL: /x'];
  await sendQuestion(gateway.decisionPorts[0]!, 'GET /check/api/x HTTP/1.1', lines);
  await eventually('the lines', () => hourly(gateway).length === 2);
  t.strictSame(
    hourly(gateway)
      .map(({ header, route }) => `${header} ${route}`)
      .sort(),
    ['X-Auth- /api', 'mount points /api'],
  );
});
