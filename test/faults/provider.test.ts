import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { ApiResponse } from '../support/clients/api-client.ts';
import {
  es256,
  claims as exampleClaims,
  forge,
  header,
  jwkOf,
} from '../support/corpora/forged-assertions.ts';
import { startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import {
  json,
  publish,
  type StubProvider,
  type StubResponse,
  startStubProvider,
} from '../support/servers/stub-provider.ts';

const discovery = '/.well-known/openid-configuration';
const mebibyte = 1024 * 1024;
let bytesSent = 0;

const text =
  (body: string): StubResponse =>
  (_request, response) =>
    void response.end(body);

function hundredMebibytes(headers: Record<string, string | number>): StubResponse {
  return (_request, response) => {
    response.writeHead(200, headers);
    pipeline(mebibytes(100), response).catch(() => {});
  };
}

function* mebibytes(count: number): Iterable<Buffer> {
  for (let i = 0; i < count; i++) {
    bytesSent += mebibyte;
    yield Buffer.alloc(mebibyte, ' ');
  }
}

/** What a provider does instead of answering well; `good` is what it would answer, with that status. */
const faults = (good: (status: number) => StubResponse): Record<string, StubResponse> => ({
  'breaks the connection off': (_request, response) => void response.socket?.destroy(),
  'says nothing': () => {},
  'sends a byte now and then': async (_request, response) => {
    response.writeHead(200);
    while (!response.destroyed) {
      response.write(' ');
      await sleep(200);
    }
  },
  'answers 500': good(500),
  'answers 404': good(404),
  'redirects to what would be good': (_request, response) =>
    void response.writeHead(302, { location: '/good' }).end(),
  'sends 100 MiB': hundredMebibytes({ 'content-length': 100 * mebibyte }),
  'sends 100 MiB in chunks': hundredMebibytes({ 'transfer-encoding': 'chunked' }),
  'sends what is not JSON': text('<html>'),
  'sends a list': json([]),
  'sends nothing': text(''),
  'breaks off in the middle': (_request, response) => {
    response.writeHead(200, { 'content-length': 1000 }).write('{"keys":');
    setImmediate(() => response.socket?.destroy());
  },
});

/** A discovery document, good but for the changes. */
function metadata(changes: object, status?: number): StubResponse {
  return (asked, response) => {
    const issuer = `http://${asked.headers.host}`;
    const good = { issuer, authorization_endpoint: `${issuer}/auth`, jwks_uri: `${issuer}/jwks` };
    json({ ...good, ...changes }, status)(asked, response);
  };
}

/** The same for one of the two documents alone. */
const faultsOf: Record<string, Record<string, StubResponse>> = {
  discovery: {
    ...faults((status) => metadata({}, status)),
    'names another issuer': metadata({ issuer: 'https://evil.example' }),
    'names no keys': metadata({ jwks_uri: undefined }),
  },
  keys: {
    ...faults((status) => json({ keys: [jwkOf(es256)] }, status)),
    'has no keys': json({ keys: [] }),
    'has shared secrets alone': json({ keys: [{ kty: 'oct', k: 'AAAA', kid: 'e1', alg: 'HS256' }] }),
  },
};

interface Row {
  readonly name: string;
  readonly sentence: string;
  readonly document: string;
  readonly stub: StubProvider;
}

function makeGood(stub: StubProvider): void {
  publish(stub, [jwkOf(es256)]);
  stub.responses.set('/good', stub.responses.get('/jwks')!);
}

/** A stub for each of the faults, good but for that. */
async function startRows(t: Test): Promise<Row[]> {
  const listed = Object.entries(faultsOf).flatMap(([document, of]) =>
    Object.entries(of).map(([sentence, response]) => ({ document, sentence, response })),
  );
  return Promise.all(
    listed.map(async ({ document, sentence, response }, index) => {
      const stub = await startStubProvider(t);
      makeGood(stub);
      stub.responses.set(document === 'keys' ? '/jwks' : discovery, response);
      return { name: `idp-${index}`, sentence, document, stub };
    }),
  );
}

const common = { client_id: 'postern', redirect_uri: 'https://acme.example.com/in', unsolicited: true };
const exchangeAt = (gateway: TestGateway, name: string, iss: string) => {
  const iat = Math.floor(Date.now() / 1000);
  const assertion = forge(header, { ...exampleClaims, iss, iat, exp: iat + 300 });
  gateway.secrets.add(assertion);
  return gateway.api.send({ method: 'POST', path: `/api/login/${name}/exchange`, form: { assertion } });
};

async function timed<T>(work: Promise<T>): Promise<[T, number]> {
  const before = performance.now();
  return [await work, performance.now() - before];
}

/** Of a call to the provider, and then some for a machine that has other work. */
const boundMs = 5_000 + 2_500;

function isDown(t: Test, [{ status, json: body, headers }, tookMs]: [ApiResponse, number]): void {
  t.equal(status, 503);
  t.equal(body.code, 'provider_unavailable');
  t.equal(headers['retry-after'], '5');
  if (isLong) t.ok(tookMs < boundMs, `${Math.round(tookMs)} ms`);
}

t.test('a provider that', async (t) => {
  const rows = await startRows(t);
  const identityProviders = Object.fromEntries(
    rows.map(({ name, stub }) => [name, { ...common, issuer: stub.origin }]),
  );
  const gateway = await startTestGateway(t, { config: { identity_providers: identityProviders } });
  const seen = await Promise.all(
    rows.map(async ({ name, stub }) => ({
      exchanged: await timed(exchangeAt(gateway, name, stub.origin)),
      started: await timed(gateway.api.send({ path: `/api/login/${name}/start` })),
    })),
  );
  gateway.advance(500);
  for (const [index, { name, sentence, document, stub }] of rows.entries())
    await t.test(`${sentence} (${document}): 503 in bounded time, and good again afterwards`, async (t) => {
      const { exchanged, started } = seen[index]!;
      isDown(t, exchanged);
      t.equal(exchanged[0].json.error, 'temporarily_unavailable');
      if (document === 'discovery') isDown(t, started);
      else t.equal(started[0].status, 200, 'its address is known');
      t.equal(stub.count('/good'), 0, 'no redirect is followed');
      makeGood(stub);
      t.equal((await exchangeAt(gateway, name, stub.origin)).status, 200);
    });
  t.ok(bytesSent < 60 * mebibyte, `of 400 MiB ${bytesSent / mebibyte} MiB were taken`);
  const lines = gateway.logLines().filter(({ msg }) => msg === 'identity provider unavailable');
  t.equal(new Set(lines.map(({ provider }) => provider)).size, rows.length, 'the log names each');
});

t.test('a provider that is not there is away, and nothing else is', async (t) => {
  const gone = 'http://127.0.0.1:9';
  const stub = await startStubProvider(t);
  makeGood(stub);
  const identityProviders = { gone: { ...common, issuer: gone }, good: { ...common, issuer: stub.origin } };
  const gateway = await startTestGateway(t, { config: { identity_providers: identityProviders } });
  isDown(t, await timed(gateway.api.send({ path: '/api/login/gone/start' })));
  isDown(t, await timed(exchangeAt(gateway, 'gone', gone)));
  t.equal((await exchangeAt(gateway, 'good', stub.origin)).status, 200);
  const ready = await fetch(`http://127.0.0.1:${gateway.managementPort}/readyz`);
  t.equal(ready.status, 200, 'providers do not count');
});
