import { z } from 'zod';
import { duration, size, timeOut } from './durations-and-sizes.ts';
import { filePath, text, whole } from './scalars.ts';

function listener(defaults: { host: string; port: number }) {
  return z.strictObject({
    host: text().prefault(defaults.host).describe('Address or name to listen on.'),
    port: whole({ min: 0, max: 65_535 })
      .prefault(defaults.port)
      .describe('TCP port; 0 takes any that is free.'),
  });
}

/** `listen`: the public listener. */
export const listen = listener({ host: '0.0.0.0', port: 8080 })
  .extend({
    tls: z
      .strictObject({
        cert: filePath().describe('PEM file of the certificate and its chain.'),
        key: filePath().describe('PEM file of the private key.'),
      })
      .optional()
      .describe('Serve HTTPS with this certificate; left out: plain HTTP. Renewed files need no restart.'),
  })
  .prefault({})
  .describe('The public listener: own endpoints and everything that is forwarded.');

/** `management`: health, readiness and metrics, without authentication; hence loopback by default. */
export const management = listener({ host: '127.0.0.1', port: 9090 })
  .prefault({})
  .describe('The management listener: /healthz, /readyz and /metrics, unauthenticated.');

/** `limits`: bounds on what a client may cost. */
export const limits = z
  .strictObject({
    connections: whole().prefault(10_000).describe('Open client connections; beyond it none is accepted.'),
    connections_per_address: whole({ min: 0 })
      .prefault(0)
      .describe(
        'Open connections of one client address (IPv6: one /64), beyond it closed; 0: no bound, for behind a proxy all come from one.',
      ),
    target_bytes: size().prefault('8KiB').describe('Size of a request target; beyond it 414.'),
    header_bytes: size().prefault('16KiB').describe('Size of a whole request head; beyond it 431.'),
    header_count: whole().prefault(100).describe('Header fields of a request; beyond it 431.'),
    header_timeout: timeOut()
      .prefault('10s')
      .describe('Time for a whole request head to arrive; beyond it 408.'),
    body_idle_timeout: timeOut()
      .prefault('30s')
      .describe('Time between two reads of a request body; beyond it 408.'),
    body_rate: size({ min: 0 })
      .prefault('1KiB')
      .describe(
        'Bytes a second of a forwarded request body, averaged, judged after 30 s; slower is 408; 0: no bound.',
      ),
    write_idle_timeout: timeOut()
      .prefault('60s')
      .describe('Time a client may leave an answer unread before its connection is closed.'),
    keep_alive_timeout: timeOut()
      .prefault('65s')
      .describe('Time a client connection may stay idle between two requests.'),
    requests_per_connection: whole({ min: 0 })
      .prefault(0)
      .describe('Requests on one client connection before it is closed; 0: no bound.'),
    own_body: size().prefault('64KiB').describe('Size of a body sent to an own endpoint; beyond it 413.'),
  })
  .prefault({})
  .describe('Bounds on what a client may cost.');

/** `shutdown`: what happens between SIGTERM and exit. */
export const shutdown = z
  .strictObject({
    delay: timeOut({ min: '0s' })
      .prefault('0s')
      .describe('How long connections are still accepted after SIGTERM while /readyz says draining.'),
    timeout: timeOut({ min: '0s' })
      .prefault('25s')
      .describe('How long requests in flight may take to finish after the delay; then they are reset.'),
  })
  .prefault({})
  .describe('How the gateway stops.');

/** `login_throttle`: failed attempts in a window. */
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
