import { z } from 'zod';
import { bytesOf } from '../report/outside-values.ts';
import { hostHeaderRule } from '../values/addresses.ts';
import { clientTlsKeys } from '../values/client-tls.ts';
import { duration, timeout } from '../values/durations-and-sizes.ts';
import { headerValueRule } from '../values/header-value.ts';
import { mapByName, parsedBy, secret, secretBytes, text, whole } from '../values/scalars.ts';
import { parseUpstreamAddress } from '../values/upstream-address.ts';
import { identityValue } from './identity-headers.ts';

/** `assertion`: the proof to a service that a request came through Postern, and of who sent it. */
export const assertion = z.strictObject({
  algorithm: z
    .enum(['EdDSA', 'ES256', 'HS256'])
    .prefault('EdDSA')
    .describe(
      'Signature algorithm: EdDSA or ES256 by a key whose public part is published, or HS256 by a shared secret.',
    ),
  secret: secretBytes(32)
    .optional()
    .describe(
      'The secret of HS256, at least 32 bytes, as { file: PATH }: the bytes of the file less one trailing newline. Read again at a reload.',
    ),
  lifetime: duration({ min: '1s', max: '5m' })
    .prefault('30s')
    .describe('Lifetime of an assertion; at most 5m.'),
  audience: text().optional().describe('aud of the assertion; if omitted, the name of the upstream.'),
});

const headerName = /^[A-Za-z0-9-]{1,64}$/;
const headerNameRule = 'must be the name of a header, of letters, digits and -';

const upstream = z.strictObject({
  url: text()
    .transform(parsedBy(parseUpstreamAddress))
    .describe(
      'http(s)://HOST:PORT, unix:PATH or builtin:echo; not an address that Postern itself listens on. A path, as in http://HOST:PORT/app, is put before that of each request.',
    ),
  connect_timeout: timeout().prefault('2s').describe('Time to connect; beyond it 504.'),
  response_timeout: timeout().prefault('60s').describe('Time until the head of the response; beyond it 504.'),
  idle_timeout: timeout()
    .prefault('5m')
    .describe('Time between two reads of a response body; beyond it the client’s connection is reset.'),
  max_connections: whole().prefault(256).describe('Maximum number of open connections.'),
  max_waiting: whole({ min: 0 })
    .prefault(1024)
    .describe('Maximum number of requests that wait for a connection; beyond it 503.'),
  tls: z
    .strictObject({
      ...clientTlsKeys,
      server_name: text().optional().describe('Name to request and verify; if omitted, the host of url.'),
    })
    .optional()
    .describe('TLS towards an https:// upstream.'),
  headers: mapByName(headerName, headerNameRule, secret(headerValueRule).transform(bytesOf), { most: 16 })
    .prefault({})
    .describe(
      'Headers with fixed values, at most 16, sent with every request but preflights: a secret that the service asks for, an Authorization of its own. Such a name in a client’s request never reaches any upstream. Can’t be combined with builtin:echo.',
    ),
  identity_headers: mapByName(headerName, headerNameRule, identityValue)
    .prefault({})
    .describe(
      'Additional headers that identify the caller, under names the service already reads: subject, username, display_name, email, method, scopes, scopes_csv, credential_id, tenant, scope_sets, service_scopes or claim:NAME (keep of identity_providers), or { from, encoding } or { from, first, else }. Such a name in a client’s request never reaches any upstream.',
    ),
  host: text(hostHeaderRule).optional().describe('Host header to send; if omitted, as received.'),
  assertion: assertion
    .optional()
    .describe('Proof for the service: X-Auth-Assertion, a signed statement of each request’s caller.'),
});

/** `upstreams`: the services behind the gateway, by the name routes use. */
export const upstreams = mapByName(
  /^[A-Za-z0-9._-]{1,63}$/,
  'must be a name of 1 to 63 of A-Z, a-z, 0-9, . _ -',
  upstream,
)
  .prefault({})
  .describe('The services behind the gateway, by the names that routes use.');
