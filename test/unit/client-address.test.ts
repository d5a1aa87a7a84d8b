import t from 'tap';
import { clientAddress, createTrustedProxies } from '../../src/http/client-address.ts';
import { canonicalAddress } from '../../src/http1/server/peer-address.ts';

t.test('an address has one spelling', (t) => {
  t.equal(canonicalAddress('::ffff:10.0.0.1'), '10.0.0.1');
  t.equal(canonicalAddress('::FFFF:10.0.0.1'), '10.0.0.1');
  t.equal(canonicalAddress('::ffff:10.0.0.1%eth0'), '10.0.0.1');
  t.equal(canonicalAddress('::ffff:1:10.0.0.1'), '::ffff:1:10.0.0.1');
  t.equal(canonicalAddress('fe80::1%eth0'), 'fe80::1');
  t.equal(canonicalAddress('2001:db8::1'), '2001:db8::1');
  t.equal(canonicalAddress('10.0.0.1'), '10.0.0.1');
  t.end();
});

t.test('trusted are the addresses and blocks that are named', (t) => {
  const proxies = createTrustedProxies(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32']);
  for (const address of ['10.255.0.1', '192.0.2.7', '2001:db8:ffff::1', '::ffff:10.0.0.1'])
    t.ok(proxies.isTrusted(address), address);
  for (const address of ['11.0.0.1', '192.0.2.8', '2001:db9::1', '', 'unknown', '10.0.0.1:80', '::1'])
    t.notOk(proxies.isTrusted(address), `'${address}'`);
  t.notOk(createTrustedProxies([]).isTrusted('127.0.0.1'), 'nobody by default');
  t.end();
});

t.test('mapped addresses and blocks that are named are those of IPv4', (t) => {
  const proxies = createTrustedProxies(['::ffff:10.0.0.0/104', '::ffff:c000:207', '::ffff:0:0:0/88']);
  for (const address of ['10.255.0.1', '::ffff:10.0.0.1', '::ffff:aff:1', '192.0.2.7', '::FFFF:C000:207'])
    t.ok(proxies.isTrusted(address), address);
  for (const address of ['11.0.0.1', '192.0.2.8', '::1']) t.notOk(proxies.isTrusted(address), address);
  t.end();
});

t.test('the client is the right-most address that is no trusted proxy', (t) => {
  const proxies = createTrustedProxies(['10.0.0.0/8']);
  const rows: [string, string, string, string][] = [
    ['without a list it is the peer', '10.0.0.1', '', '10.0.0.1'],
    ['of an untrusted peer the list says nothing', '192.0.2.1', '198.51.100.1', '192.0.2.1'],
    ['one hop', '10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['what the client wrote itself stands to the left', '10.0.0.1', '10.9.9.9, 198.51.100.1', '198.51.100.1'],
    ['trusted hops are passed over', '10.0.0.1', '198.51.100.1, 10.0.0.3, 10.0.0.2', '198.51.100.1'],
    ['when all are trusted it is the left-most', '10.0.0.1', '10.0.0.3,10.0.0.2', '10.0.0.3'],
    ['blanks and tabs around an address do not count', '10.0.0.1', ' \t198.51.100.1\t ', '198.51.100.1'],
    ['a mapped address is the one it maps', '10.0.0.1', '::ffff:198.51.100.1', '198.51.100.1'],
    ['text that is no address ends the walk', '10.0.0.1', '198.51.100.1, unknown', '10.0.0.1'],
    ['an empty member ends the walk', '10.0.0.1', '198.51.100.1,', '10.0.0.1'],
    ['a port does not count', '10.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
    ['nor that of a trusted hop', '10.0.0.1', '198.51.100.1:1, 10.0.0.2:65535', '198.51.100.1'],
    ['IPv6 with a port', '10.0.0.1', '[2001:db8::1]:4711', '2001:db8::1'],
    ['IPv6 in brackets alone', '10.0.0.1', '[2001:db8::1]', '2001:db8::1'],
    ['IPv6 as it stands', '10.0.0.1', '2001:db8::1', '2001:db8::1'],
    ['a mapped address with a port', '10.0.0.1', '[::ffff:198.51.100.1]:80', '198.51.100.1'],
    ['a mapped address in hexadecimal', '10.0.0.1', '::ffff:c633:6401', '198.51.100.1'],
    ['in upper case and brackets', '10.0.0.1', '[::FFFF:C633:6401]', '198.51.100.1'],
    ['with a port', '10.0.0.1', '[::ffff:c633:6401]:80', '198.51.100.1'],
    ['with all its zeros', '10.0.0.1', '0:0:0:0:0:ffff:198.51.100.1', '198.51.100.1'],
    ['a trusted hop that is mapped is passed over', '10.0.0.1', '198.51.100.1, ::ffff:a00:2', '198.51.100.1'],
    ['one that only looks mapped is not', '10.0.0.1', '198.51.100.1, ::a00:2', '::10.0.0.2'],
    ['a trusted peer', '::ffff:a00:2', '198.51.100.1', '198.51.100.1'],
    ['an IPv6 address has one spelling', '10.0.0.1', '2001:DB8:0:0::1', '2001:db8::1'],
    ['a zone does not count', '10.0.0.1', '[fe80::1%eth0]:80', 'fe80::1'],
    ['a port that is none ends the walk', '10.0.0.1', '198.51.100.1:http', '10.0.0.1'],
    ['a colon alone ends the walk', '10.0.0.1', '198.51.100.1:', '10.0.0.1'],
    ['IPv4 in brackets ends the walk', '10.0.0.1', '[198.51.100.1]:80', '10.0.0.1'],
    ['a bracket left open ends the walk', '10.0.0.1', '[2001:db8::1', '10.0.0.1'],
    ['a number is no address', '10.0.0.1', '3325256705', '10.0.0.1'],
    ['nor is a short or octal form', '10.0.0.1', '198.51.1, 0306.51.100.1', '10.0.0.1'],
    ['the walk ends at the last good hop', '10.0.0.1', 'unknown, 10.0.0.2', '10.0.0.2'],
  ];
  for (const [name, peer, list, client] of rows) t.equal(clientAddress(peer, list, proxies), client, name);
  t.end();
});
