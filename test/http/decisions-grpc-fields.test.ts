import t from 'tap';
import { type Check, connectCheckClient } from '../support/clients/check-client.ts';
import { startDeciding } from '../support/clients/decisions.ts';

const routes = [{ prefix: '/api', upstream: 'none' }];
const path = '/api/x';

t.test('fields that no request can have are 400 by gRPC, however they are described', async (t) => {
  const { portOf, key, cookie, logLines } = await startDeciding(t, { routes });
  const { check } = connectCheckClient(t, portOf('envoy_grpc'));
  const pseudo: [string, string][] = [
    [':method', 'GET'],
    [':path', path],
    [':authority', 'app.example'],
  ];
  const withKey: [string, string] = ['x-api-key', key];

  /** The same field in `header_map` and in `headers`. */
  const described = (name: string, value: string): [string, Check][] => [
    [
      `${JSON.stringify([name, value])} in header_map`,
      { path, headerMap: [...pseudo, withKey, [name, value]] },
    ],
    [
      `${JSON.stringify([name, value])} in headers`,
      { path, headers: Object.fromEntries([withKey, [name, value]]) },
    ],
  ];

  const unreadable: [name: string, value: string][] = [
    ['x-a', 'b\r\nx-auth-subject: eve'],
    ['x-a', 'b\nc'],
    ['x-a', 'b\rc'],
    ['x-a', 'b\0c'],
    ['x-a', '\n'],
    ['cookie', `a=1\r\nx-auth-subject: eve; ${cookie}`],
    ['user-agent', 'a\n{"forged":true}'],
    ['', 'x'],
    ['x a', 'b'],
    ['x-a\r\nx-b', 'c'],
    ['x-a:', 'b'],
    ['x-\xe9', 'b'],
    [':', 'b'],
    [':a b', 'c'],
    [':scheme', 'http\r\n'],
    [':path', '/api/y'],
    [':method', 'PUT'],
  ];
  for (const [name, value] of unreadable)
    for (const [what, question] of described(name, value)) {
      const answer = await check(question);
      t.match(answer, { allowed: false, status: 400, headers: { 'x-auth-code': 'bad_request' } }, what);
      t.notMatch(JSON.stringify(answer), /eve/, what);
    }

  const readable: [name: string, value: string][] = [
    ['x-a', 'b\tc'],
    ['x-a', ''],
    ['x-a', '\xe9'],
    ["!#$%&'*+.^_`|~-", 'b'],
    ['cookie', `a=1; ${cookie}`],
    [':scheme', 'https'],
    [':protocol', 'websocket'],
  ];
  for (const [name, value] of readable)
    for (const [what, question] of described(name, value)) t.equal((await check(question)).status, 200, what);
  t.notOk(logLines().some((line) => 'forged' in line));
});
