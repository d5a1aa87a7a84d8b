import t from 'tap';
import type { DecisionMode } from '../../src/config/sections/forward-auth.ts';
import { describingLines, httpModes, sendQuestion, startDeciding } from '../support/clients/decisions.ts';
import { connectRaw } from '../support/clients/raw-client.ts';

const routes = [
  { prefix: '/api/open', upstream: 'none', public: true },
  { prefix: '/api', upstream: 'none' },
];
const withHeaders = httpModes.filter((mode) => mode !== 'envoy');
const ok = 200;
/** nginx would make a 500 of a 400. */
const bad = (mode: DecisionMode) => (mode.endsWith('nginx') ? 403 : 400);

t.test('method and target are read from one place, where they are once', async (t) => {
  const { portOf } = await startDeciding(t, { routes });
  for (const mode of withHeaders) {
    const [line, [method, target]] = describingLines(mode, 'GET', '/api/open/x') as [
      string,
      [string, string],
    ];
    const [, [, otherTarget]] = describingLines(mode, 'GET', '/api/other') as [string, [string, string]];
    const [targetName] = target.split(':') as [string];
    type Row = [name: string, lines: string[], status: number];
    const rows: Row[] = [
      ['each once', [method, target], ok],
      ['in lower case', [method.toLowerCase().replace('get', 'GET'), target.toLowerCase()], ok],
      ['no method', [target], bad(mode)],
      ['no target', [method], bad(mode)],
      ['neither', [], bad(mode)],
      ['the method twice', [method, method, target], bad(mode)],
      ['two methods', [method, method.replace('GET', 'PUT'), target], bad(mode)],
      ['the target twice', [method, target, target], bad(mode)],
      ['two targets', [method, target, otherTarget], bad(mode)],
      ['two targets, the first in another case', [method, otherTarget.toUpperCase(), target], bad(mode)],
      ['an empty target', [method, `${targetName}:`], bad(mode)],
      ['an empty method', [method.replace('GET', ''), target], bad(mode)],
      ['a method that is none', [method.replace('GET', 'G ET'), target], bad(mode)],
      ['a method in lower case', [method.replace('GET', 'get'), target], mode.endsWith('nginx') ? 501 : 501],
      ['a target that is no path', [method, `${targetName}: api/open/x`], bad(mode)],
      ['a target that is a URL of another kind', [method, `${targetName}: file:/api/open/x`], bad(mode)],
      [
        'an odd spelling beside it',
        [method, target, `${targetName.replaceAll('-', '_')}: /api/x`],
        bad(mode),
      ],
      ['a fragment', [method, `${target}#`], bad(mode)],
      ['a space in the target', [method, `${target} x`], bad(mode)],
      ['a byte beyond ASCII', [method, `${target}\xe9`], bad(mode)],
      ['a query', [method, `${target}?a=//..;%2f`], ok],
    ];
    await t.test(mode, async (t) => {
      for (const [name, lines, status] of rows)
        t.equal((await sendQuestion(portOf(mode), line, ['Host: a.example', ...lines])).status, status, name);
      const elsewhere = httpModes.filter((other) => describingLines(other, 'GET', '/x')[1][1] !== undefined);
      for (const other of elsewhere) {
        const lines = describingLines(other, 'GET', '/api/open/x')[1];
        const isSame = lines[1] === target;
        const { status } = await sendQuestion(portOf(mode), 'GET /api/open/x HTTP/1.1', [
          'Host: a.example',
          ...lines,
        ]);
        t.equal(status, isSame ? ok : bad(mode), `as ${other} describes it`);
      }
    });
  }
});

t.test('ingress-nginx: the target begins at the first slash after an authority', async (t) => {
  const { portOf } = await startDeciding(t, { routes });
  const rows: [name: string, url: string, status: number][] = [
    ['a name', 'https://a.example/api/open', 200],
    ['a name and a port', 'http://a.example:8080/api/open?x', 200],
    ['an IPv6 address', 'http://[::1]:80/api/open', 200],
    ['an underscore in the authority', 'http://x_y/api/open', 200],
    ['a question mark in the authority', 'http://x?/api/open', 403],
    ['a hash in the authority', 'http://x#/api/open', 403],
    ['an at sign in the authority', 'http://x@y/api/open', 403],
    ['a backslash in the authority', 'http://x\\/api/open', 403],
    ['an escape in the authority', 'http://x%2f/api/open', 403],
    ['a blank in the authority', 'http://x y/api/open', 403],
    ['an empty authority', 'http:///api/open', 403],
    ['no authority', 'http:/api/open', 403],
    ['no scheme', '//a.example/api/open', 403],
    ['a path alone', '/api/open', 403],
    ['no path', 'http://a.example', 403],
    ['a query without a path', 'http://a.example?/api/open', 403],
    ['two slashes after the authority', 'http://a.example//api/open', 403],
    ['a dot segment, which a URL parser would resolve', 'http://a.example/api/open/../x', 403],
    ['a backslash, which a URL parser would turn', 'http://a.example/api\\open', 403],
    ['another route behind a tab, which a URL parser would drop', 'http://a.example/api/o\tpen', 403],
  ];
  for (const [name, url, status] of rows) {
    const lines = ['Host: a.example', 'X-Original-Method: GET', `X-Original-URL: ${url}`];
    const answer = await sendQuestion(portOf('ingress_nginx'), 'GET / HTTP/1.1', lines);
    t.equal(answer.status, status, name);
    if (status !== 200) t.strictSame(answer.values('x-auth-code'), ['bad_request'], name);
  }
  const lines = ['Host: a', 'X-Original-Method: GET', 'X-Original-URL: http://a/api/open'];
  const redirect = 'X-Auth-Request-Redirect: /api/x';
  const answers = [[redirect], [redirect, redirect]].map((more) =>
    sendQuestion(portOf('ingress_nginx'), 'GET / HTTP/1.1', [...lines, ...more]),
  );
  for (const { status } of await Promise.all(answers))
    t.equal(status, 200, 'where it would lead is not read');
});

t.test('envoy: the target follows a fixed prefix', async (t) => {
  const { portOf } = await startDeciding(t, { routes });
  const rows: [requestLine: string, status: number][] = [
    ['GET /check/api/open HTTP/1.1', 200],
    ['DELETE /check/api/open?a HTTP/1.1', 200],
    ['GET /check/api/x HTTP/1.1', 401],
    ['GET /check HTTP/1.1', 404],
    ['GET /check?/api/open HTTP/1.1', 404],
    ['GET /checkapi/open HTTP/1.1', 404],
    ['GET /api/open HTTP/1.1', 404],
    ['GET //check/api/open HTTP/1.1', 404],
    ['GET /Check/api/open HTTP/1.1', 404],
    ['GET /check//api/open HTTP/1.1', 400],
    ['GET /check/../check/api/open HTTP/1.1', 400],
    ['GET http://a/check/api/open HTTP/1.1', 404],
    ['TRACE /check/api/open HTTP/1.1', 405],
  ];
  for (const [line, status] of rows)
    t.equal((await sendQuestion(portOf('envoy'), line, ['Host: a.example'])).status, status, line);
});

t.test('the host that the client named is judged where it is passed on', async (t) => {
  const { portOf } = await startDeciding(t, { routes });
  for (const mode of httpModes) {
    const [line, lines] = describingLines(mode, 'GET', '/api/open/x');
    const rows: [hosts: string[], status: number][] = [
      [['Host: a.example'], 200],
      [['Host: x?'], bad(mode)],
      [['Host: x/y'], bad(mode)],
      [['Host: a.example', 'Host: b.example'], bad(mode)],
      [[], bad(mode)],
    ];
    for (const [hosts, status] of rows)
      t.equal(
        (await sendQuestion(portOf(mode), line, [...hosts, ...lines])).status,
        status,
        `${mode} ${hosts}`,
      );
  }
});

t.test('peers that may not ask are refused, whatever they send', async (t) => {
  const { portOf, key } = await startDeciding(t, { routes }, { proxies: ['192.0.2.0/24'] });
  for (const mode of httpModes) {
    const [line, lines] = describingLines(mode, 'GET', '/api/open/x');
    for (const more of [lines, [...lines, `X-API-Key: ${key}`], []]) {
      const connection = await connectRaw(portOf(mode));
      connection.write([line, 'Host: a.example', ...more, '', ''].join('\r\n'));
      const answer = await connection.response();
      t.match(answer, { status: 403, json: { code: 'address_not_allowed' } }, mode);
      t.strictSame(answer.values('connection'), ['close']);
      await connection.closed;
    }
  }
});

t.test('the address of the client', async (t) => {
  const { portOf, logLines } = await startDeciding(
    t,
    { routes, trusted_proxies: ['10.0.0.0/8'] },
    { proxies: ['127.0.0.0/8', '192.0.2.1'] },
  );
  const rows: [forwardedFor: string[], address: string][] = [
    [['198.51.100.7'], '198.51.100.7'],
    [['203.0.113.9, 198.51.100.7'], '198.51.100.7'],
    [['203.0.113.9, 198.51.100.7, 10.1.2.3, 192.0.2.1'], '198.51.100.7'],
    [['203.0.113.9', '198.51.100.7'], '198.51.100.7'],
    [['[2001:db8::1]:4711'], '2001:db8::1'],
    [['198.51.100.7:4711, 127.0.0.1'], '198.51.100.7'],
    [['198.51.100.7, unknown'], ''],
    [['unknown'], ''],
    [['10.1.2.3'], ''],
    [[''], ''],
    [[], ''],
  ];
  for (const mode of httpModes) {
    const [line, lines] = describingLines(mode, 'GET', '/api/open/x');
    for (const [index, [values, address]] of rows.entries()) {
      const id = `${mode}-${index}`;
      const all = [...lines, ...values.map((value) => `X-Forwarded-For: ${value}`), `X-Request-Id: ${id}`];
      t.equal((await sendQuestion(portOf(mode), line, ['Host: a', ...all])).status, 200, id);
      t.match(
        logLines().find((entry) => entry.request_id === id),
        { msg: 'request', path: '/api/open/x', route: '/api/open', forward_auth: mode, address },
        `${mode} ${values}`,
      );
    }
  }
});
