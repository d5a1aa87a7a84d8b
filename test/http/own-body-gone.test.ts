import type { AddressInfo } from 'node:net';
import t from 'tap';
import { createPrincipal, type Principal } from '../../src/credentials/principal.ts';
import type { Endpoint } from '../../src/endpoints/endpoint.ts';
import { createServeEndpoint } from '../../src/endpoints/serve-endpoint.ts';
import { createTrustedProxies } from '../../src/http/client-address.ts';
import { createCors } from '../../src/http/cors.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import { createPublicServer } from '../../src/http/public-server.ts';
import { createReplies } from '../../src/http/reply.ts';
import { connectRaw } from '../support/raw-client.ts';

const hour = 3_600_000;
const limits = {
  connections: 10,
  connectionsPerAddress: 0,
  targetBytes: 8_192,
  headerBytes: 16_384,
  headerCount: 100,
  headerTimeoutMs: hour,
  bodyIdleTimeoutMs: hour,
  bodyJudgedAfterMs: hour,
  keepAliveTimeoutMs: hour,
  writeIdleTimeoutMs: hour,
  requestsPerConnection: 0,
};
const caller = createPrincipal({
  kind: 'session',
  userId: 'u',
  username: 'bea',
  displayName: null,
  email: null,
  scopes: ['things:write'],
  scopeSets: [],
  credentialId: 's',
  expires: null,
  tenant: 'acme',
});

for (const [name, lines, deletions] of [
  ['one with a body that never came is not carried out', ['Content-Length: 9'], 0],
  ['nor one with a chunked body', ['Transfer-Encoding: chunked'], 0],
  ['one without a body was complete, and is', [], 1],
] as const) {
  t.test(`a client goes away while its credential is looked at: ${name}`, async (t) => {
    let deleted = 0;
    let admit: (principal: Principal) => void = () => {};
    const asked = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    const endpoint: Endpoint = {
      method: 'DELETE',
      path: '/things',
      guard: { scopes: ['things:write'] },
      handle: async () => {
        deleted++;
        return { status: 204 };
      },
    };
    const serveEndpoint = createServeEndpoint({
      authenticate: () =>
        new Promise((resolve) => {
          admit = resolve;
          asked.resolve();
        }),
      heldNow: async () => caller.held,
      openRequests: { add: () => {}, remove: () => {} },
      replies: createReplies({
        realm: 'acme',
        cors: createCors([]),
        hidesReferrer: () => false,
        onInternalError: (error) => t.fail('an internal error', { error }),
      }),
      body: { maxBytes: 1_000, timeoutMs: hour },
    });
    const resource = {
      endpoints: new Map([['DELETE', endpoint]]),
      methods: ['DELETE'],
      label: '/things',
      oauth: false,
    };
    const answered = Promise.withResolvers<void>();
    const server = createPublicServer({
      limits,
      proxies: createTrustedProxies([]),
      realm: 'acme',
      tls: null,
      onExchange: (exchange: Exchange) =>
        serveEndpoint(exchange, { resource, id: '' }).then(answered.resolve, answered.reject),
      onRefused: () => {},
      onClosed: () => closed.resolve(),
      onUnreadable: () => {},
    });
    const { port }: AddressInfo = await server.listen('127.0.0.1', 0);
    t.teardown(() => server.drain(0));

    const client = await connectRaw(port);
    client.write(['DELETE /things HTTP/1.1', 'Host: a', ...lines, '', ''].join('\r\n'));
    await asked.promise;
    client.reset();
    await closed.promise;
    admit(caller);
    await answered.promise;
    t.equal(deleted, deletions);
  });
}
