import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import type { Refusal } from '../../src/errors.ts';
import { createCodeExchange } from '../../src/identity-providers/code-exchange.ts';
import { createDiscovery } from '../../src/identity-providers/discovery.ts';
import { maxProviderConnections } from '../../src/identity-providers/max-provider-connections.ts';
import { createProviderNetwork } from '../../src/identity-providers/provider-network.ts';
import { SignInStarts } from '../../src/identity-providers/sign-in-start.ts';
import { claims, forge, header, start as now, settingsOf } from '../support/corpora/forged-assertions.ts';
import { eventually } from '../support/eventually.ts';
import { json, publish, type StubResponse, startStubProvider } from '../support/servers/stub-provider.ts';

const starts = new SignInStarts(Buffer.alloc(32, 7));
const start = starts.begin({
  provider: 'idp',
  returnTo: null,
  expires: now + 600_000,
});

interface Sent {
  readonly headers: IncomingMessage['headers'];
  readonly form: Record<string, string>;
}

/** A provider whose token endpoint answers so, and the exchange with it. */
async function setUp(
  t: Test,
  respondAs: (issuer: string) => StubResponse,
  changes: object = {},
  metadata = {},
) {
  const provider = await startStubProvider(t);
  const network = createProviderNetwork({ fetchTimeoutMs: 3_000 });
  t.teardown(() => network.close());
  publish(provider, [], metadata);
  const sent: Sent[] = [];
  provider.responses.set('/token', (request, response) => {
    void text(request).then((body) => {
      sent.push({ headers: request.headers, form: Object.fromEntries(new URLSearchParams(body)) });
      respondAs(provider.origin)(request, response);
    });
  });
  const settings = settingsOf({ issuer: provider.origin, response: 'code', ...changes });
  const parts = { network };
  const discovery = createDiscovery({
    issuer: provider.origin,
    response: 'code',
    onFailure() {},
    now: () => now,
    ...parts,
  });
  return { exchange: createCodeExchange({ settings, discovery, ...parts }), sent, provider };
}

const tokens = (iss: string, change: object = {}, more: object = {}) => ({
  access_token: 'secret-access',
  token_type: 'Bearer',
  id_token: forge(header, { ...claims, iss, nonce: start.companion, ...change }),
  ...more,
});
const good = (iss: string) => json(tokens(iss));

t.test('a code becomes the ID token', async (t) => {
  const { exchange, sent } = await setUp(t, good);
  t.match(await exchange('code-1', start), /^[\w-]+\.[\w-]+\.[\w-]+$/);
  t.strictSame(sent[0]?.form, {
    grant_type: 'authorization_code',
    code: 'code-1',
    redirect_uri: 'https://acme.example.com/signed-in',
    code_verifier: start.codeVerifier,
    client_id: 'postern',
  });
  t.equal(sent[0]?.headers.authorization, undefined, 'a public client has nothing to show');
});

t.test("the client secret is sent by the provider's method", async (t) => {
  const changes = { client_secret: 'p:ss wörd' };
  const basic = await setUp(t, good, changes);
  await basic.exchange('c', start);
  const [, credentials = ''] = basic.sent[0]?.headers.authorization?.split(' ') ?? [];
  t.equal(Buffer.from(credentials, 'base64').toString(), 'postern:p%3Ass+w%C3%B6rd');
  t.equal(basic.sent[0]?.form.client_secret, undefined);
  const both = { token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'] };
  const either = await setUp(t, good, changes, both);
  await either.exchange('c', start);
  t.match(either.sent[0]?.headers.authorization, /^Basic /, 'not in the body where it need not be');
  const methods = ['private_key_jwt', 'client_secret_post'];
  const post = await setUp(t, good, changes, { token_endpoint_auth_methods_supported: methods });
  await post.exchange('c', start);
  t.match(post.sent[0]?.form, { client_id: 'postern', client_secret: 'p:ss wörd' });
  t.equal(post.sent[0]?.headers.authorization, undefined);
});

t.test('the ID token is not validated here', async (t) => {
  for (const idToken of ['', 'x', '..', forge(header, { iss: 'https://evil.example' })]) {
    const { exchange } = await setUp(t, (iss) => json(tokens(iss, {}, { id_token: idToken })));
    t.equal(await exchange('c', start), idToken);
  }
});

const outcomes: Record<string, [string, (issuer: string) => StubResponse]> = {
  'a code that is refused': ['invalid_assertion', () => json({ error: 'invalid_grant' }, 400)],
  'a request that is refused': ['invalid_assertion', () => json({ error: 'invalid_request' }, 400)],
  'an ID token that is not a string': ['invalid_assertion', (iss) => json(tokens(iss, {}, { id_token: 1 }))],
  'an ID token that is null': ['invalid_assertion', (iss) => json(tokens(iss, {}, { id_token: null }))],
  'a client that is refused': ['provider_unavailable', () => json({ error: 'invalid_client' }, 401)],
  'a client that is not allowed': ['provider_unavailable', () => json({ error: 'unauthorized_client' }, 400)],
  'a client that is refused with a challenge': [
    'provider_unavailable',
    () => (_request, response) =>
      void response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end('{}'),
  ],
  'a 500 with an OAuth error': ['provider_unavailable', () => json({ error: 'invalid_grant' }, 500)],
  'a 429': ['provider_unavailable', () => json({ error: 'slow_down' }, 429)],
  'a redirect': [
    'provider_unavailable',
    () => (_request, response) => void response.writeHead(302, { location: '/other' }).end(),
  ],
  'a 404 page': [
    'provider_unavailable',
    () => (_request, response) => void response.writeHead(404).end('<html>'),
  ],
  'a response without ID token': [
    'provider_unavailable',
    (iss) => json(tokens(iss, {}, { id_token: undefined })),
  ],
  'a response that is an array': ['provider_unavailable', () => json([])],
  'an empty response': [
    'provider_unavailable',
    () => (_request, response) => void response.writeHead(200).end(),
  ],
  'a 204': ['provider_unavailable', () => (_request, response) => void response.writeHead(204).end()],
  'no answer': ['provider_unavailable', () => () => {}],
  'a connection that breaks': [
    'provider_unavailable',
    () => (_request, response) => void response.socket?.destroy(),
  ],
};
for (const [name, [code, response]] of Object.entries(outcomes)) {
  t.test(`${name}: ${code}`, async (t) => {
    const { exchange, sent } = await setUp(t, response, { client_secret: 'hidden' });
    const error = await exchange('code-1', start).then(
      () => t.fail('it was accepted'),
      (caught: Refusal) => caught,
    );
    t.match(error, { code });
    const { cause } = (error as Refusal).options;
    t.type(cause, 'string', 'nothing of the response is kept');
    t.notMatch(cause, /secret|hidden|code-1/);
    t.equal(sent.length, 1, 'a code is never sent twice');
  });
}

t.test('the number of codes waiting for a slow provider is bounded', async (t) => {
  const { exchange, provider } = await setUp(t, () => () => {});
  const waiting = Array.from({ length: 65 }, () => exchange('c', start));
  const settled = Promise.allSettled(waiting);
  await eventually('connections are full', () => provider.count('/token') >= maxProviderConnections);
  t.equal(provider.count('/token'), maxProviderConnections, 'the others wait for a connection');
  const results = await settled;
  const codes = results.map((result) => (result.status === 'rejected' ? result.reason.code : 'accepted'));
  t.equal(codes.filter((code) => code === 'overloaded').length, 1);
  t.equal(codes.filter((code) => code === 'provider_unavailable').length, 64);
  t.ok(provider.count('/token') <= 64, 'a code is never sent twice');
  publish(provider, []);
  provider.responses.set('/token', good(provider.origin));
  t.ok(await exchange('c', start), 'the places are free again');
});
