import ipaddr from 'ipaddr.js';
import t from 'tap';
import { addressKey } from '../../src/credentials/address-key.ts';
import { createRandom } from '../support/corpora/random.ts';

/** By the library alone. */
function keyByLibrary(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const network = (parsed as ipaddr.IPv6).parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}

t.test('IPv4 is its own key, mapped too, and IPv6 that of its /64', async (t) => {
  const rows = [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
    ['2001:0db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', 'unknown'],
    ['a:b', 'unknown'],
    ['1::2::3', 'unknown'],
    ['1:2:3:4:5:6:7:8::', 'unknown'],
  ] as const;
  for (const [address, key] of rows) t.equal(addressKey(address), key, address);
});

t.test('any text has the key that the library gives it', async (t) => {
  const random = createRandom(20261122);
  const pieces = ['0', '0000', 'f', 'ffff', '2001', 'db8', ':', ':', ':', '::', '.', '1.2.3.4', '%1', 'g'];
  for (let count = 0; count < 20_000; count += 1) {
    const length = 1 + random.below(16);
    const address = Array.from({ length }, () => random.pick(pieces)).join('');
    if (addressKey(address) !== keyByLibrary(address))
      t.equal(addressKey(address), keyByLibrary(address), address);
  }
});
