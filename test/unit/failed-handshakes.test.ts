import { mock } from 'node:test';
import t from 'tap';
import { handshakeFailureReason } from '../../src/http1/server/handshake-failure.ts';
import { FailedHandshakes } from '../../src/listeners/failed-handshakes.ts';
import { MetricsRegistry } from '../../src/metrics/registry.ts';

const closed = { reason: 'closed', code: 'ECONNRESET', address: '' } as const;
const plain = { reason: 'not_tls', code: 'ERR_SSL_HTTP_REQUEST', address: '192.0.2.1' } as const;

t.test('a line at once, then one a minute with what has come meanwhile, and none without', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const lines: (object | undefined)[] = [];
  const info = (_message: string, fields?: object) => void lines.push(fields);
  const handshakes = new FailedHandshakes({ info }, new MetricsRegistry());
  handshakes.count(closed, 'listen');
  t.strictSame(lines.splice(0), [
    { count: 1, reasons: { closed: 1 }, last: { listener: 'listen', code: 'ECONNRESET' } },
  ]);
  handshakes.count(plain, 'forward_auth[0]');
  for (let i = 0; i < 1000; i++) handshakes.count(closed, 'listen');
  handshakes.count(plain, 'forward_auth[0]');
  mock.timers.tick(59_999);
  t.strictSame(lines, []);
  mock.timers.tick(1);
  const last = { listener: 'forward_auth[0]', code: plain.code, address: plain.address };
  t.strictSame(lines.splice(0), [{ count: 1002, reasons: { not_tls: 2, closed: 1000 }, last }]);
  mock.timers.tick(60_000);
  t.strictSame(lines, [], 'a minute without any');
  handshakes.count(plain, 'forward_auth[0]');
  t.equal(lines.splice(0).length, 1, 'the next one at once again');
  handshakes.count(plain, 'forward_auth[0]');
  handshakes.close();
  t.equal(lines.splice(0).length, 1, 'what is left, at the end');
  mock.timers.tick(120_000);
  t.strictSame(lines, []);
});

t.test(
  'a client’s complaint about our certificate has one reason, whatever this OpenSSL calls the alert',
  async (t) => {
    for (const name of [
      'SSLV3_ALERT_BAD_CERTIFICATE',
      'SSL/TLS_ALERT_CERTIFICATE_EXPIRED',
      'TLSV1_ALERT_UNKNOWN_CA',
    ])
      t.equal(
        handshakeFailureReason(Object.assign(new Error(name), { code: `ERR_SSL_${name}` }), {
          authorizationError: null as unknown as Error,
        }),
        'certificate_refused',
      );
    t.equal(
      handshakeFailureReason(new Error('something new'), { authorizationError: null as unknown as Error }),
      'other',
    );
  },
);
