import t from 'tap';
import { connectRaw, exchangeRaw } from '../support/clients/raw-client.ts';
import { assertRefused } from '../support/clients/refused.ts';
import { expected } from '../support/corpora/engine-differences.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';

t.test('only HTTP/1.0 and HTTP/1.1 are spoken', async (t) => {
  const gateway = await startForwarding(t);
  const target = 'GET /api/store/x';
  const rows: [string, string, number][] = [
    ['HTTP/1.2 is another version', gateway.raw(`${target} HTTP/1.2`), 505],
    ['HTTP/2.0 with a request of HTTP/1 is another version', gateway.raw(`${target} HTTP/2.0`), 505],
    ['HTTP/0.9 with headers is another version', gateway.raw(`${target} HTTP/0.9`), 505],
    ['a request line without a version is malformed', `${target}\r\n\r\n`, 400],
    ['HTTP/3.0 is another version', gateway.raw(`${target} HTTP/3.0`), 505],
    ['the preface of HTTP/2 is another version', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505],
    ['a version of two digits is malformed', gateway.raw(`${target} HTTP/1.10`), 400],
    ['a version with a zero before it is malformed', gateway.raw(`${target} HTTP/01.1`), 400],
    ['a version without a minor part is malformed', gateway.raw(`${target} HTTP/1`), 400],
    ['a version in lower case is malformed', gateway.raw(`${target} http/1.1`), 400],
    ['another protocol is malformed', gateway.raw(`${target} HTP/1.1`), 400],
    ['a blank after the version is malformed', gateway.raw(`${target} HTTP/1.1 `), 400],
  ];
  for (const [name, bytes, status] of rows)
    await t.test(name, async (t) => {
      const result = expected(name, { status });
      await assertRefused(t, gateway, bytes, result.status);
    });
});

t.test('methods that are never forwarded', async (t) => {
  const gateway = await startForwarding(t);
  const rows: [string, string, number][] = [
    ['an unknown method is 501', gateway.raw('BREW /api/store/x HTTP/1.1'), 501],
    ['a known method in lower case is an unknown one', gateway.raw('get /api/store/x HTTP/1.1'), 501],
    ['a longer name than a known one is unknown', gateway.raw('GETS /api/store/x HTTP/1.1'), 501],
    ['a method that is no token is malformed', gateway.raw('G(T /api/store/x HTTP/1.1'), 400],
    ['a tab after the method is malformed', gateway.raw('GET\t/api/store/x HTTP/1.1'), 400],
    ['a blank before the method is malformed', gateway.raw(' GET /api/store/x HTTP/1.1'), 400],
    ['CONNECT is 405', gateway.raw('CONNECT upstream.example:443 HTTP/1.1'), 405],
    ['CONNECT with a path is 405', gateway.raw('CONNECT /api/store/x HTTP/1.1'), 405],
    ['TRACE is 405', gateway.raw('TRACE /api/store/x HTTP/1.1', ['Connection: close']), 405],
    [
      'TRACE is 405 before its target is judged',
      gateway.raw('TRACE /api//x HTTP/1.1', ['Connection: close']),
      405,
    ],
  ];
  for (const [name, bytes, status] of rows)
    await t.test(name, async (t) => {
      const result = expected(name, { status });
      await assertRefused(t, gateway, bytes, result.status);
    });
  const { responses } = await exchangeRaw(gateway.port, gateway.raw('CONNECT a:1 HTTP/1.1'));
  t.same(responses[0]?.values('allow'), ['GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS']);
});

t.test('HTTP/1.0 without Host is served and closed', async (t) => {
  const gateway = await startForwarding(t);
  const { responses } = await exchangeRaw(
    gateway.port,
    `GET /api/store/x HTTP/1.0\r\nX-API-Key: ${gateway.key}\r\n\r\n`,
  );
  t.equal(responses[0]?.status, 200);
  t.equal(responses[0]?.text, '{"ok":true}');
  const seen = gateway.upstream.seen.at(-1)!;
  t.same(seen.values('host'), [new URL(gateway.upstream.url).host]);
  t.same(seen.values('x-forwarded-host'), [], 'nobody named a host');
});

t.test('a client that is gone after CONNECT takes nobody with it', async (t) => {
  const gateway = await startForwarding(t);
  for (let i = 0; i < 20; i++) {
    const connection = await connectRaw(gateway.port);
    connection.write(gateway.raw('CONNECT a:1 HTTP/1.1'));
    connection.write('x'.repeat(10_000));
    await new Promise((resolve) => setImmediate(resolve));
    connection.reset();
  }
  t.ok(await gateway.stillServes());
});
