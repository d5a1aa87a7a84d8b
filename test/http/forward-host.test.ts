import t from 'tap';
import { exchangeRaw } from '../support/clients/raw-client.ts';
import { assertRefused } from '../support/clients/refused.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';

const get = 'GET /api/store/x HTTP/1.1';

t.test('Host is one well-formed authority', async (t) => {
  const gateway = await startForwarding(t);
  const withHosts = (...hosts: string[]) =>
    [get, ...hosts.map((host) => `Host: ${host}`), `X-API-Key: ${gateway.key}`, '', ''].join('\r\n');
  const rows: Record<string, string> = {
    'no Host': withHosts(),
    'an empty Host': withHosts(''),
    'the same Host twice': withHosts('a.example', 'a.example'),
    'two different Hosts': withHosts('a.example', 'b.example'),
    'a list of hosts': withHosts('a.example, b.example'),
    'userinfo in Host': withHosts('user@a.example'),
    'a path in Host': withHosts('a.example/x'),
    'a query in Host': withHosts('a.example?x'),
    'a fragment in Host': withHosts('a.example#x'),
    'a blank within Host': withHosts('a.example b'),
    'a port that is no number': withHosts('a.example:80a'),
    'two ports': withHosts('a.example:80:81'),
    'an unclosed bracket': withHosts('[::1'),
    'a byte above 0x7e in Host': withHosts('\xe9.example'),
    'a backslash in Host': withHosts('a.example\\b'),
    'a scheme in Host': withHosts('http://a.example'),
    'two Hosts on HTTP/1.0': withHosts('a.example', 'a.example').replace('HTTP/1.1', 'HTTP/1.0'),
  };
  for (const [name, bytes] of Object.entries(rows))
    await t.test(name, (t) => assertRefused(t, gateway, bytes, 400));

  for (const host of ['a.example', 'a.example:8080', '127.0.0.1', '[::1]:80', 'xn--bcher-kva.example'])
    await t.test(`${host} passes unchanged`, async (t) => {
      const { responses } = await exchangeRaw(
        gateway.port,
        withHosts(host).replace(/\r\n$/, 'Connection: close\r\n\r\n'),
      );
      t.equal(responses[0]?.status, 200);
      t.same(gateway.upstream.seen.at(-1)!.values('host'), [host]);
    });
});
