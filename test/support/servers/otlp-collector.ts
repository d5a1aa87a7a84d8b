import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '../eventually.ts';
import type { TestScope } from '../gateway/gateway.ts';
import type { SecretWatch } from '../gateway/secret-watch.ts';

/** A span as it was exported. */
export interface SeenSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty at the root. */
  readonly parentSpanId: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  /** 0 unset, 2 error. */
  readonly status: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Attributes of the service. */
  readonly resource: Readonly<Record<string, unknown>>;
}

/** Takes traces by OTLP over HTTP, as JSON. */
export interface OtlpCollector {
  readonly url: string;
  readonly spans: readonly SeenSpan[];
  /** The status it answers with; 200 at first, null: it never answers. */
  status: number | null;
  /** Searches what comes from now on for secrets. */
  watch(secrets: Pick<SecretWatch, 'addPublicText'>): void;
  /** The spans of the trace whose root, or first span of ours, has that name; once it has been exported. */
  traceOf(name: string): Promise<readonly SeenSpan[]>;
}

/** Starts one, and points the variables of this process to it until the test ends. */
export async function startOtlpCollector(
  t: TestScope,
  env: Record<string, string> = {},
): Promise<OtlpCollector> {
  const spans: SeenSpan[] = [];
  let watched: Pick<SecretWatch, 'addPublicText'> | undefined;
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    if (collector.status === null) return;
    response.statusCode = request.url === '/v1/traces' ? collector.status : 404;
    response.setHeader('content-type', 'application/json').end('{}');
    if (response.statusCode !== 200) return;
    watched?.addPublicText(text);
    spans.push(...spansIn(JSON.parse(text)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  setVariables(t, { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_BSP_SCHEDULE_DELAY: '20', ...env });
  const collector: OtlpCollector = {
    url,
    spans,
    status: 200,
    watch(secrets) {
      watched = secrets;
    },
    async traceOf(name) {
      const own = await eventually(`a span ${name}`, () => spans.find((span) => span.name === name));
      return spans.filter(({ traceId }) => traceId === own.traceId);
    },
  };
  return collector;
}

/** Sets variables of this process until the test ends. */
export function setVariables(t: TestScope, variables: Record<string, string>): void {
  for (const [name, value] of Object.entries(variables)) {
    process.env[name] = value;
    t.teardown(() => {
      delete process.env[name];
    });
  }
}

function spansIn({ resourceSpans }: any): SeenSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }: any) =>
    scopeSpans.flatMap((scope: any) =>
      scope.spans.map((span: any) => ({
        ...span,
        parentSpanId: span.parentSpanId ?? '',
        status: span.status?.code ?? 0,
        startMs: Number(span.startTimeUnixNano) / 1e6,
        endMs: Number(span.endTimeUnixNano) / 1e6,
        attributes: attributesOf(span.attributes),
        resource: attributesOf(resource.attributes),
      })),
    ),
  );
}

function attributesOf(list: any[]): Record<string, unknown> {
  return Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]]));
}
