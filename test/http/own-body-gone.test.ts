import t from 'tap';
import { createPrincipal, type Principal } from '../../src/credentials/principal.ts';
import type { Endpoint } from '../../src/endpoints/endpoint.ts';
import { createServeEndpoint } from '../../src/endpoints/serve-endpoint.ts';
import { createCors } from '../../src/http/cors.ts';
import { createReplies } from '../../src/http/reply.ts';
import { connectRaw } from '../support/clients/raw-client.ts';
import { startPublicListener } from '../support/gateway/public-listener.ts';

const hour = 3_600_000;
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
  ['a request whose body never arrived is not carried out', ['Content-Length: 9'], 0],
  ['nor is one with a chunked body', ['Transfer-Encoding: chunked'], 0],
  ['a request without a body was complete, and is carried out', [], 1],
] as const) {
  t.test(`a client disconnects while it is authenticated: ${name}`, async (t) => {
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
      isProviderOAuthPath: () => false,
      replies: createReplies({
        realm: 'acme',
        cors: createCors({ origins: [] }),
        fieldsOn: () => [],
        insteadOf: () => null,
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
    const responded = Promise.withResolvers<void>();
    const { port } = await startPublicListener(
      t,
      (exchange) => serveEndpoint(exchange, { resource, id: '' }).then(responded.resolve, responded.reject),
      { onClosed: () => closed.resolve() },
    );

    const client = await connectRaw(port);
    client.write(['DELETE /things HTTP/1.1', 'Host: a', ...lines, '', ''].join('\r\n'));
    await asked.promise;
    client.reset();
    await closed.promise;
    admit(caller);
    await responded.promise;
    t.equal(deleted, deletions);
  });
}
