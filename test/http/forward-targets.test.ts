import t from 'tap';
import { startForwarding } from '../support/forwarding.ts';
import { exchangeRaw } from '../support/raw-client.ts';
import { assertRefused } from '../support/refused.ts';

t.test('targets that an upstream could read differently are 400, with a good key', async (t) => {
  const gateway = await startForwarding(t);
  const rows: Record<string, string> = {
    'absolute-form': 'http://gateway.example/api/store/x',
    'absolute-form of another host': 'http://other.example/api/store/x',
    'authority-form': 'gateway.example:80',
    'asterisk-form': '*',
    'a path without its slash': 'api/store/x',
    'a fragment': '/api/store/x#y',
    'a fragment after a query': '/api/store/x?y#z',
    'a byte above 0x7e': '/api/store/\xe9',
    'a byte above 0x7e in the query': '/api/store/x?\xe9',
    'a tab': '/api/store/x\ty',
    'two slashes': '/api//store/x',
    'two slashes before everything': '//api/store/x',
    'a parent segment': '/api/open/../store/x',
    'a parent segment at the end': '/api/store/..',
    'a dot segment': '/api/./store/x',
    'an encoded parent segment': '/api/open/%2e%2e/store/x',
    'a half encoded parent segment': '/api/open/.%2E/store/x',
    'a parent segment behind a semicolon': '/api/open/..;/store/x',
    'a semicolon': '/api/store;v=1/x',
    'an encoded semicolon': '/api/store%3bv=1/x',
    'a backslash': '/api\\store/x',
    'an encoded backslash': '/api%5cstore/x',
    'an encoded slash': '/api%2fstore/x',
    'an encoded hash': '/api/store/x%23y',
    'an encoded question mark': '/api/store/x%3fy',
    'an encoded NUL': '/api/store/x%00',
    'an encoded line feed': '/api/store/x%0a',
    'an encoded letter': '/api/%73tore/x',
    'an escape that is malformed': '/api/store/%zz',
    'an escape that is cut short': '/api/store/%4',
    'an escape that is no UTF-8': '/api/store/%ff',
    'an overlong slash': '/api/store/%c0%af',
    'an escape encoded twice': '/api/store/%252e%252e/x',
  };
  for (const [name, target] of Object.entries(rows))
    await t.test(name, (t) => assertRefused(t, gateway, gateway.raw(`GET ${target} HTTP/1.1`), 400));
  await t.test('more than one space before the target', (t) =>
    assertRefused(t, gateway, gateway.raw('GET  /api/store/x HTTP/1.1'), 400),
  );
  await t.test('more than one space before the version', (t) =>
    assertRefused(t, gateway, gateway.raw('GET /api/store/x  HTTP/1.1'), 400),
  );
  await t.test('a space within the target', (t) =>
    assertRefused(t, gateway, gateway.raw('GET /api/store/x y HTTP/1.1'), 400),
  );
  await t.test('own paths are judged no less', (t) =>
    assertRefused(t, gateway, gateway.raw('GET /api/%6cogout HTTP/1.1'), 400),
  );
});

t.test('what passes goes on as the same bytes', async (t) => {
  const gateway = await startForwarding(t);
  const targets = [
    '/api/store/x/',
    '/api/store/%C3%A9%e2%82%ac?a=%2f..//;%00&b',
    '/api/store/!$&\'()*+,=:@"<>[]^`{|}~',
    '/api/store/100%25',
    '/api/store/...?',
  ];
  for (const target of targets) {
    const { responses } = await exchangeRaw(
      gateway.port,
      gateway.raw(`GET ${target} HTTP/1.1`, ['Connection: close']),
    );
    t.equal(responses[0]?.status, 200, target);
    t.equal(gateway.upstream.seen.at(-1)!.target, target);
  }
});

t.test('paths: pass lets semicolons and encoded slashes through as they stand', async (t) => {
  const gateway = await startForwarding(t, { paths: { semicolons: 'pass', encoded_slashes: 'pass' } });
  for (const target of ['/api/store/x;v=1/y', '/api/store/a%2Fb%2fc%3B']) {
    const { responses } = await exchangeRaw(
      gateway.port,
      gateway.raw(`GET ${target} HTTP/1.1`, ['Connection: close']),
    );
    t.equal(responses[0]?.status, 200, target);
    t.equal(gateway.upstream.seen.at(-1)!.target, target);
  }
  for (const target of ['/api/store;v=1/x', '/api/store%2fx', '/api/login;v=1/access-token', '/api%2flogout'])
    await t.test(`${target} reads as another path, and is 404`, (t) =>
      assertRefused(t, gateway, gateway.raw(`GET ${target} HTTP/1.1`, ['Connection: close']), 404),
    );
  for (const target of [
    '/api/open/..;/store/x',
    '/api/open/..%2fstore/x',
    '/api/open/x%2f../y',
    '/api/a%5cb',
  ])
    await t.test(`${target} is 400 all the same`, (t) =>
      assertRefused(t, gateway, gateway.raw(`GET ${target} HTTP/1.1`), 400),
    );
});
