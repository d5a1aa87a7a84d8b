import t from 'tap';
import { startTestGateway, type TestScope } from '../support/gateway/gateway.ts';

const path = '/api/login/access-token';

/** Gives what five failed sign-ins in a row are answered, each from its own address, at three an address. */
async function responsesFrom(
  t: TestScope,
  trusted_proxies: readonly string[],
  forwardedFor: readonly string[],
) {
  const login_throttle = { per_account_and_address: 100, per_account: 100, per_address: 3 };
  const { api, logLines } = await startTestGateway(t, { config: { trusted_proxies, login_throttle } });
  const statuses: number[] = [];
  for (const [index, from] of forwardedFor.entries()) {
    const form = { username: `nobody ${index}`, password: 'not a password of anybody' };
    const response = await api.send({ method: 'POST', path, form, headers: { 'x-forwarded-for': from } });
    statuses.push(response.status);
  }
  const addresses = logLines()
    .filter(({ event }) => event === 'login_failed')
    .map(({ address }) => address);
  return { statuses, addresses };
}

const rows: Record<string, { proxies: string[]; from: string[]; statuses: number[]; address?: string }> = {
  'the header of a peer that is not a trusted proxy is ignored': {
    proxies: [],
    from: ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'],
    statuses: [401, 401, 401, 429],
    address: '127.0.0.1',
  },
  'behind a trusted proxy addresses are counted separately': {
    proxies: ['127.0.0.0/8'],
    from: ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'],
    statuses: [401, 401, 401, 401],
  },
  'everything left of the right-most address was written by the client': {
    proxies: ['127.0.0.1'],
    from: ['10.0.0.1, 192.0.2.1', '10.0.0.2, 192.0.2.1', '192.0.2.1', 'junk, 192.0.2.1'],
    statuses: [401, 401, 401, 429],
    address: '192.0.2.1',
  },
  'trusted hops are stepped over': {
    proxies: ['127.0.0.1', '10.0.0.0/8'],
    from: [
      '192.0.2.1, 10.0.0.1',
      '192.0.2.1, 10.0.0.2, 10.0.0.3',
      '192.0.2.1',
      '1.2.3.4, 192.0.2.1, 10.1.1.1',
    ],
    statuses: [401, 401, 401, 429],
    address: '192.0.2.1',
  },
  'a port behind an address does not make it the proxy’s, nor another': {
    proxies: ['127.0.0.1'],
    from: ['192.0.2.1:40001', '192.0.2.1:40002', '192.0.2.1', '192.0.2.1:40003', '192.0.2.2:40001'],
    statuses: [401, 401, 401, 429, 401],
  },
  'nor does one behind an IPv6 address': {
    proxies: ['127.0.0.1'],
    from: ['[2001:db8::1]:1', '[2001:db8::2]:2', '2001:db8::3', '[2001:db8::4]', '[2001:db8:0:1::1]:1'],
    statuses: [401, 401, 401, 429, 401],
  },
  'IPv6 counts by its /64': {
    proxies: ['127.0.0.1'],
    from: [
      '2001:db8:0:1::1',
      '2001:db8:0:1:ffff:ffff:ffff:ffff',
      '2001:0DB8:0000:0001::2',
      '2001:db8:0:1::3',
      '2001:db8:0:2::1',
    ],
    statuses: [401, 401, 401, 429, 401],
  },
  'an IPv4 address in IPv6 is the IPv4 address': {
    proxies: ['127.0.0.1'],
    from: ['::ffff:192.0.2.1', '192.0.2.1', '::ffff:c000:201', '192.0.2.1', '::ffff:192.0.2.2'],
    statuses: [401, 401, 401, 429, 401],
  },
  'and is logged as one, however it is written': {
    proxies: ['127.0.0.1', '::ffff:10.0.0.0/104'],
    from: [
      '::ffff:c000:201',
      '[::FFFF:C000:201]:80, 10.0.0.1',
      '0:0:0:0:0:ffff:192.0.2.1, ::ffff:a00:1',
      '192.0.2.1',
    ],
    statuses: [401, 401, 401, 429],
    address: '192.0.2.1',
  },
};

for (const [title, { proxies, from, statuses, address }] of Object.entries(rows)) {
  t.test(title, async (t) => {
    const answered = await responsesFrom(t, proxies, from);
    t.same(answered.statuses, statuses);
    if (address !== undefined) t.same(new Set(answered.addresses), new Set([address]));
  });
}
