import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.ts';
import { createCommandFolder } from '../support/gateway/command.ts';
import { administrator, bootstrapToken, startTestGateway } from '../support/gateway/gateway.ts';
import { startProviderGateway } from '../support/gateway/provider-gateway.ts';
import {
  type OtlpCollector,
  type SeenSpan,
  setVariables,
  startOtlpCollector,
} from '../support/servers/otlp-collector.ts';

const { username, password } = administrator;
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const callerId = '00f067aa0ba902b7';
const sampled = `00-${traceId}-${callerId}-01`;
const notSampled = `00-${traceId}-${callerId}-00`;
const path = '/api/store/asset/1?token=in-the-query';

/** A gateway that traces, with a signed-in user; everything it exports is searched for secrets. */
async function startTraced(t: Test, env: Record<string, string> = {}, config: object = {}) {
  const collector = await startOtlpCollector(t, env);
  const gateway = await startTestGateway(t, { config });
  collector.watch(gateway.secrets);
  const { api } = gateway;
  await api.activate(username, password, bootstrapToken);
  const { accessToken } = await api.signIn(username, password);
  const { key } = await api.mintKey(accessToken, { label: 'traced', scopes: ['store:read'] });
  return { ...gateway, collector, accessToken, apiKey: key as string };
}

function childOf(spans: readonly SeenSpan[], parent: SeenSpan | undefined, name: string): SeenSpan {
  const found = spans.find((span) => span.name === name && span.parentSpanId === parent?.spanId);
  if (found === undefined) throw new Error(`no ${name} below ${parent?.name}`);
  return found;
}

/** Each span lies within its parent's time, but for the clock's grain. */
function assertNested(t: Test, spans: readonly SeenSpan[]): void {
  for (const span of spans) {
    const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
    if (parent === undefined) continue;
    t.ok(parent.startMs <= span.startMs + 1 && span.endMs <= parent.endMs + 1, `${span.name} in its parent`);
  }
}

t.test(
  'the spans of a forwarded request are one tree, below the caller and above the upstream',
  async (t) => {
    const { api, apiKey, collector, upstream } = await startTraced(t);
    const { status, headers } = await api.send({ path, apiKey, headers: { traceparent: sampled } });
    t.equal(status, 200);
    const spans = (await collector.traceOf('GET /api/store')).filter((span) => span.traceId === traceId);
    const request = spans.find(({ parentSpanId }) => parentSpanId === callerId)!;
    t.match(request, {
      name: 'GET /api/store',
      kind: 2,
      status: 0,
      attributes: {
        'http.request.method': 'GET',
        'http.route': '/api/store',
        'http.response.status_code': 200,
        'url.scheme': 'http',
        'url.path': '/api/store/asset/1',
        'client.address': '127.0.0.1',
        'postern.request_id': headers['x-request-id'],
        'postern.outcome': 'ok',
        'user.id': /^[0-9a-f-]{36}$/,
      },
      resource: { 'service.name': 'postern', 'postern.tenant': 'acme' },
    });
    const authentication = childOf(spans, request, 'authenticate');
    t.match(authentication.attributes, { 'postern.credential': 'api_key' });
    t.match(childOf(spans, authentication, 'records.findApiKeyByHash'), {
      kind: 3,
      attributes: { 'db.system.name': 'sqlite', 'db.operation.name': 'findApiKeyByHash' },
    });
    const sent = childOf(spans, request, 'GET app');
    const [, port] = upstream.url.split('//')[1]!.split(':');
    t.match(sent, {
      kind: 3,
      attributes: {
        'http.request.method': 'GET',
        'http.response.status_code': 200,
        'server.address': '127.0.0.1',
        'server.port': Number(port),
      },
    });
    t.same(upstream.seen.at(-1)!.values('traceparent'), [`00-${traceId}-${sent.spanId}-01`]);
    t.equal(spans.length, 4, 'and nothing else');
    assertNested(t, spans);
    t.notMatch(JSON.stringify(collector.spans), /in-the-query/);
  },
);

t.test(
  'a caller that does not sample is left alone, and one that says nothing begins a trace here',
  async (t) => {
    const { api, apiKey, collector, upstream } = await startTraced(t);
    const send = async (traceparent?: string) => {
      await api.send({ path, apiKey, headers: traceparent === undefined ? {} : { traceparent } });
      return upstream.seen.at(-1)!.values('traceparent');
    };
    t.same(await send(notSampled), [notSampled]);
    const [begun] = await send();
    const [made] = await send('00-not-a-traceparent');
    const spans = await collector.traceOf('GET app');
    const root = spans.find(({ name }) => name === 'GET /api/store')!;
    t.equal(root.parentSpanId, '');
    t.equal(begun, `00-${root.traceId}-${childOf(spans, root, 'GET app').spanId}-01`);
    t.match(made, /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    t.notOk(
      collector.spans.some((span) => span.traceId === traceId),
      'what is not sampled is not exported',
    );
  },
);

t.test('a request that Postern serves itself has spans of its stores, and no secret', async (t) => {
  const { api, accessToken, collector } = await startTraced(t);
  await collector.traceOf('POST /api/admin/api-keys');
  const login = await collector.traceOf('POST /api/login/access-token');
  const [root] = login.filter(({ kind }) => kind === 2);
  for (const name of ['records.findUserByName', 'sessions.create'])
    t.equal(childOf(login, root, name).kind, 3, name);
  assertNested(t, login);
  await api.send({ path: '/api/store/asset/1', bearer: accessToken, headers: { traceparent: sampled } });
  const spans = await spansOf(collector, 3);
  const authentication = spans.find(({ name }) => name === 'authenticate');
  t.match(authentication?.attributes, { 'postern.credential': 'bearer' });
  childOf(spans, authentication, 'sessions.findLive');
});

t.test('failures are recorded by their code', async (t) => {
  const upstreams = { app: { url: 'http://127.0.0.1:1' } };
  const { api, apiKey, collector } = await startTraced(t, {}, { upstreams });
  t.equal((await api.send({ path, apiKey })).status, 502);
  const spans = await collector.traceOf('GET app');
  const root = spans.find(({ name }) => name === 'GET /api/store')!;
  const failure = { status: 2, attributes: { 'error.type': 'upstream_unavailable' } };
  t.match(root, { ...failure, attributes: { ...failure.attributes, 'http.response.status_code': 502 } });
  t.match(childOf(spans, root, 'GET app'), failure);
  t.notOk(
    'http.response.status_code' in childOf(spans, root, 'GET app').attributes,
    'it was not the upstream’s',
  );

  t.equal((await api.send({ path, apiKey: `${apiKey}x`, headers: { traceparent: sampled } })).status, 401);
  const refused = await spansOf(collector, 2);
  t.match(
    refused.find(({ name }) => name === 'authenticate'),
    { status: 2, attributes: { 'error.type': 'invalid_api_key' } },
  );
  t.match(
    refused.find(({ kind }) => kind === 2),
    { status: 0, attributes: { 'http.response.status_code': 401, 'postern.outcome': 'invalid_api_key' } },
    'a mistake of the client is none of ours',
  );
});

/** The spans of the caller's trace, once there are so many. */
function spansOf({ spans }: OtlpCollector, count: number): Promise<readonly SeenSpan[]> {
  const found = () => spans.filter((span) => span.traceId === traceId);
  return eventually(`${count} spans`, () => found().length >= count && found());
}

t.test('a call to an identity provider is a span', async (t) => {
  const collector = await startOtlpCollector(t);
  const gateway = await startProviderGateway(t);
  collector.watch(gateway.secrets);
  const response = await gateway.signIn();
  t.equal(response.status, 200);
  const spans = await collector.traceOf('GET /api/login/idp/start');
  const root = spans.find(({ kind }) => kind === 2);
  t.match(childOf(spans, root, 'GET 127.0.0.1').attributes, {
    'http.request.method': 'GET',
    'url.full': `${gateway.stub.origin}/.well-known/openid-configuration`,
    'server.address': '127.0.0.1',
  });
  const exchanged = await collector.traceOf('GET /api/login/idp/exchange');
  t.ok(exchanged.some(({ name }) => name === 'records.acceptIdentity'));
});

t.test('an unavailable collector blocks nothing, and is reported once', async (t) => {
  const { api, apiKey, collector, logLines, stop } = await startTraced(t);
  await collector.traceOf('POST /api/admin/api-keys');
  const told = (message: string) => logLines().filter(({ msg }) => msg === message).length;
  collector.status = 400;
  for (let round = 0; round < 3; round++) {
    t.equal((await api.send({ path, apiKey })).status, 200);
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
  t.equal(told('trace export failed'), 1);
  collector.status = 200;
  await api.send({ path, apiKey });
  await collector.traceOf('GET /api/store');
  await eventually('the recovery is logged, too', () => told('trace export resumed') === 1);
  await stop();
});

// What is tried again is tried until the timeout.
for (const { status, reason, timeoutMs } of [
  { status: 400, reason: 'HTTP 400', timeoutMs: 60_000 },
  { status: 503, reason: 'HTTP 429, 502, 503 or 504', timeoutMs: 2_000 },
  { status: null, reason: 'timed out', timeoutMs: 2_000 },
]) {
  t.test(`the log reports a collector that ends traces as ${reason}`, async (t) => {
    const { api, apiKey, collector, logLines } = await startTraced(t, {
      OTEL_EXPORTER_OTLP_TIMEOUT: `${timeoutMs}`,
    });
    await collector.traceOf('POST /api/admin/api-keys');
    collector.status = status;
    await api.send({ path, apiKey });
    const isNotification = ({ msg }: Record<string, unknown>) => msg === 'trace export failed';
    const line = await eventually('told', () => logLines().find(isNotification));
    t.equal(line.reason, reason);
  });
}

t.test('ended spans are exported before the process ends', async (t) => {
  const { api, apiKey, collector, stop } = await startTraced(t, { OTEL_BSP_SCHEDULE_DELAY: '60000' });
  await api.send({ path, apiKey });
  t.same(collector.spans, []);
  await stop();
  t.ok(collector.spans.some(({ name }) => name === 'GET /api/store'));
});

t.test('nothing of OpenTelemetry is loaded unless the environment asks for it', async (t) => {
  const hook = ['--import', new URL('../support/gateway/report-imports.ts', import.meta.url).href];
  const endpoint = 'http://127.0.0.1:1';
  const serve = async (env: Record<string, string>) => {
    setVariables(t, env);
    const { printed, child, ended } = await createCommandFolder(t).serve([], hook);
    child.kill('SIGTERM');
    t.equal((await ended).code, 0);
    for (const name of Object.keys(env)) delete process.env[name];
    return printed().stderr;
  };
  t.notMatch(await serve({}), 'imported: ');
  t.notMatch(await serve({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SDK_DISABLED: 'true' }), 'imported: ');
  t.notMatch(
    await serve({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_EXPORTER: 'none' }),
    'imported: ',
  );
  t.match(await serve({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }), /imported: .*sdk-trace/);
});
