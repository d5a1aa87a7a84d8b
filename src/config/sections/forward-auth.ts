import { z } from 'zod';
import { ipOrCidrRule } from '../values/addresses.ts';
import { text } from '../values/scalars.ts';
import { listener, listenerTls } from './listeners.ts';
import { assertion } from './upstreams.ts';

/** Kinds of proxies that ask for decisions, each with its own way to describe a request. */
export const decisionModes = [
  'nginx',
  'ingress_nginx',
  'haproxy',
  'traefik',
  'caddy',
  'envoy',
  'envoy_grpc',
] as const;

/** A kind of proxy: an element of {@link decisionModes}. */
export type DecisionMode = (typeof decisionModes)[number];

/**
 * Modes whose printed configuration forwards every target byte for byte, however oddly it is encoded, as
 * `test/upstreams/forward-auth-*.test.ts` show. Traefik refuses some encoded characters itself.
 */
export const exactModes: ReadonlySet<DecisionMode> = new Set([
  'nginx',
  'ingress_nginx',
  'haproxy',
  'caddy',
  'envoy',
  'envoy_grpc',
]);

const decisionListener = listener({ host: '127.0.0.1', port: 8081 }).extend({
  mode: z
    .enum(decisionModes)
    .describe(
      `The kind of proxy, which determines the headers that describe a request: ${decisionModes.join(', ')}.`,
    ),
  // Fails closed: a peer that may ask can also claim any client address.
  proxies: z
    .array(text(ipOrCidrRule))
    .min(1, 'must not be empty: no proxy could ask')
    .prefault(['127.0.0.0/8'])
    .describe('Addresses and CIDR blocks of the proxies that may ask; everyone else is 403.'),
  client_headers: z
    .enum(['refuse', 'pass'])
    .prefault('refuse')
    .describe(
      'Headers of a client that the gateway would have dropped and the proxy forwards: refuse or pass.',
    ),
  // The services behind the proxy have no names here: the audience has no default.
  assertion: assertion
    .extend({ audience: text().describe('aud of the assertion.') })
    .optional()
    .describe('Proof for the services behind the proxy: X-Auth-Assertion, as upstreams.*.assertion.'),
  browser: z
    .boolean()
    .default(false)
    .describe(
      'Web cookies count for the requests asked about, and browsers without a session are led to the sign-in; needs web, and not for ingress_nginx.',
    ),
  tls: listenerTls
    .optional()
    .describe('Serve HTTPS with this certificate; if omitted, plain HTTP. Renewed files need no restart.'),
});

/** `forward_auth`: listeners that decide about another proxy's requests instead of forwarding them. */
export const forwardAuth = z
  .array(decisionListener)
  .prefault([])
  .describe(
    'Listeners on which other proxies ask whether a request may pass, judged by the same routes; none by default.',
  );
