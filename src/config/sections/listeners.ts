import { z } from 'zod';
import { listenHostRule } from '../values/addresses.ts';
import { duration, size, timeout } from '../values/durations-and-sizes.ts';
import { filePath, text, whole } from '../values/scalars.ts';

/** Schema of the address of a listener. */
export function listener(defaults: { host: string; port: number }) {
  return z.strictObject({
    host: text(listenHostRule)
      .prefault(defaults.host)
      .describe('Address or name to listen on; :: is IPv6 and IPv4.'),
    port: whole({ min: 0, max: 65_535 }).prefault(defaults.port).describe('TCP port; 0 picks any free port.'),
  });
}

/** TLS of a listener: its own certificate, and the authorities for client certificates. */
export const listenerTls = z.strictObject({
  cert: filePath().describe('PEM file of the certificate and its chain.'),
  key: filePath().describe('PEM file of the private key.'),
  client_ca: filePath()
    .optional()
    .describe(
      'PEM file of the authorities of client certificates, up to their roots (mutual TLS); if omitted, clients are not asked for a certificate.',
    ),
  // Fails closed: a configuration that only names authorities admits no client without a certificate.
  client_certificate: z
    .enum(['request', 'require'])
    .prefault('require')
    .describe(
      'Clients without a certificate: admitted (request) or refused (require). A certificate that client_ca does not verify is refused in both cases. Requires client_ca.',
    ),
});

/** `listen`: the public listener. */
export const listen = listener({ host: '0.0.0.0', port: 8080 })
  .extend({
    engine: z
      .enum(['built_in', 'node'])
      .prefault('built_in')
      .describe(
        'HTTP engine: built_in, or node (node:http, undici and http-proxy-3), an emergency switch for when a vulnerability in the built-in engine is known.',
      ),
    hsts: z
      .boolean()
      .prefault(false)
      .describe(
        'Tell browsers with every response to use only https for this host for a year (Strict-Transport-Security). Requires an https base_url.',
      ),
    tls: listenerTls
      .optional()
      .describe('Serve HTTPS with this certificate; if omitted, plain HTTP. Renewed files need no restart.'),
  })
  .prefault({})
  .describe('The public listener: Postern’s own endpoints and everything that is forwarded.');

/** `management`: health, readiness and metrics, without authentication, hence on loopback by default. */
export const management = listener({ host: '127.0.0.1', port: 9090 })
  .prefault({})
  .describe('The management listener: /healthz, /readyz and /metrics, unauthenticated.');

/** `limits`: bounds on what a client may consume. */
export const limits = z
  .strictObject({
    connections: whole()
      .prefault(10_000)
      .describe(
        'Maximum number of open client connections, or fewer if the process may not open enough file descriptors; beyond it none is accepted.',
      ),
    connections_per_address: whole({ min: 0 })
      .prefault(0)
      .describe(
        'Maximum number of open connections of one client address (IPv6: one /64), closed beyond it; 0: no limit, because behind a proxy all clients share one address.',
      ),
    target_bytes: size().prefault('8KiB').describe('Maximum size of a request target; beyond it 414.'),
    header_bytes: size().prefault('16KiB').describe('Maximum size of a whole request head; beyond it 431.'),
    header_count: whole()
      .prefault(100)
      .describe('Maximum number of header fields in a request; beyond it 431.'),
    header_timeout: timeout()
      .prefault('10s')
      .describe('Time for a whole request head to arrive; beyond it 408.'),
    body_idle_timeout: timeout()
      .prefault('30s')
      .describe('Time between two reads of a request body; beyond it 408.'),
    body_rate: size({ min: 0 })
      .prefault('1KiB')
      .describe(
        'Minimum rate of a forwarded request body, in bytes per second, averaged, checked after 30 s; slower is 408; 0: no limit.',
      ),
    write_idle_timeout: timeout()
      .prefault('60s')
      .describe('Time a client may leave a response unread before its connection is closed.'),
    keep_alive_timeout: timeout()
      .prefault('65s')
      .describe('Time a client connection may stay idle between two requests.'),
    requests_per_connection: whole({ min: 0 })
      .prefault(0)
      .describe('Requests on one client connection before it is closed; 0: no limit.'),
    own_body: size()
      .prefault('64KiB')
      .describe('Maximum size of a body sent to one of Postern’s own endpoints; beyond it 413.'),
  })
  .prefault({})
  .describe('Limits on the resources of a client.');

/** `shutdown`: what happens between SIGTERM and exit. */
export const shutdown = z
  .strictObject({
    delay: timeout({ min: '0s' })
      .prefault('0s')
      .describe('Time for which connections are still accepted after SIGTERM while /readyz says draining.'),
    timeout: timeout({ min: '0s' })
      .prefault('25s')
      .describe('Time for requests in flight to finish after the delay; then they are reset.'),
  })
  .prefault({})
  .describe('Stopping the gateway.');

const mostWorkers = 256;
const workersRule = `must be auto or a whole number from 1 to ${mostWorkers}`;

/** `workers`: the number of serving processes. */
export const workers = z
  .union([z.literal('auto'), z.int().min(1, workersRule).max(mostWorkers, workersRule)], {
    error: workersRule,
  })
  .prefault(1)
  .describe(
    'Number of processes that accept connections, each on a core of its own; auto: the CPUs this process may use. Limits on connections, upstreams and password hashes apply to the whole gateway: each process has an even share.',
  );

/** `login_throttle`: limits on failed sign-ins within a window. */
export const loginThrottle = z
  .strictObject({
    per_account_and_address: whole()
      .prefault(10)
      .describe('Failed attempts on one account from one address in the window.'),
    per_account: whole()
      .prefault(100)
      .describe('Failed attempts on one account from anywhere in the window.'),
    per_address: whole()
      .prefault(100)
      .describe('Failed attempts from one address (IPv6: one /64) on any account in the window.'),
    window: duration({ min: '1s', max: '30d' }).prefault('15m').describe('Length of the window.'),
  })
  .prefault({})
  .describe('Failed sign-ins before 429; there is no other lock on an account.');
