import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import {
  ROOT_CONTEXT,
  type Span as SdkSpan,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { SamplerSettings, TracingSettings } from './environment.ts';
import type { Attributes, Span, SpanSource, SpanStart } from './span.ts';
import { formatTraceparent, parseTraceparent } from './traceparent.ts';

/** Told when spans can't be exported, and when they can again; `reason` is a code, a status or a name. */
export interface ExportEvents {
  onUnavailable(reason: string): void;
  onAvailable(): void;
}

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;
const failureAttribute = 'error.type';
/** The end of the process waits no longer for a collector that doesn't answer, ms. */
const longestCloseMs = 2_000;

/**
 * Spans by the OpenTelemetry SDK, exported by OTLP over HTTP as the environment says. The only file that imports it, and
 * itself only imported where there is something to export. `attributes` name the service; the environment may say better.
 */
export function createOpenTelemetry(
  { sampler, batch }: TracingSettings,
  attributes: Attributes,
  events: ExportEvents,
): SpanSource {
  const exporter = withEvents(new OTLPTraceExporter(), events);
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes(attributes))
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: createSampler(sampler),
    spanProcessors: [new BatchSpanProcessor({ exporter, ...batch })],
  });
  const tracer = provider.getTracer('postern');
  return {
    begin: (start, traceparent) => beginSpan(tracer, start, parentOf(traceparent)),
    async close() {
      const late = new Promise((resolve) => setTimeout(resolve, longestCloseMs).unref());
      await Promise.race([provider.shutdown().catch(() => {}), late]);
    },
  };
}

/** A span that is not sampled costs no more than the look at it: it is not passed on to anybody. */
function beginSpan(
  tracer: Tracer,
  { name, kind, attributes }: SpanStart,
  parent = ROOT_CONTEXT,
): Span | null {
  const span = tracer.startSpan(name, { kind: kinds[kind], attributes }, parent);
  return span.isRecording() ? toSpan(tracer, span) : null;
}

function toSpan(tracer: Tracer, span: SdkSpan): Span {
  const { traceId, spanId } = span.spanContext();
  return {
    traceparent: formatTraceparent({ traceId, spanId, isSampled: true }),
    // Whoever goes on in the background after the response is no part of the request any more.
    begin: (start) =>
      span.isRecording() ? beginSpan(tracer, start, trace.setSpan(ROOT_CONTEXT, span)) : null,
    rename: (name) => void span.updateName(name),
    tell: (attributes) => void span.setAttributes(attributes),
    end(failure) {
      if (failure !== null) {
        span.setAttribute(failureAttribute, failure);
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    },
  };
}

function parentOf(traceparent: string | null) {
  const parent = traceparent === null ? null : parseTraceparent(traceparent);
  if (parent === null) return ROOT_CONTEXT;
  const { traceId, spanId, isSampled } = parent;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: isSampled ? 1 : 0,
    isRemote: true,
  });
}

function createSampler({ name, ratio }: SamplerSettings): Sampler {
  const root = createRootSampler(name.replace('parentbased_', ''), ratio);
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

function createRootSampler(name: string, ratio: number): Sampler {
  if (name === 'always_on') return new AlwaysOnSampler();
  return name === 'always_off' ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(ratio);
}

/** Tells once of exports that fail, until one succeeds again. */
function withEvents(exporter: SpanExporter, { onUnavailable, onAvailable }: ExportEvents): SpanExporter {
  let isDown = false;
  const responses = watchResponses();
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.error !== undefined;
        if (failed !== isDown) {
          isDown = failed;
          if (result.error === undefined) onAvailable();
          else onUnavailable(reasonOf(result.error, responses.lastStatus()));
        }
        done(result);
      });
    },
    async shutdown() {
      await exporter.shutdown();
      responses.close();
    },
  };
}

/** The SDK's own words for what has neither a code nor a status in its result. */
const timedOut = 'Request timed out';
const askedToWait = 'Export failed with retryable status';

/** Else never its text, which may hold the address, and the headers with which the collector was asked. */
function reasonOf(error: Error, lastStatus: number | undefined): string {
  const { code } = error as { readonly code?: unknown };
  if (typeof code === 'number') return `HTTP ${code}`;
  if (code !== undefined) return String(code);
  if (error.message === timedOut) return 'timed out';
  return error.message === askedToWait && lastStatus !== undefined ? `HTTP ${lastStatus}` : error.name;
}

const answered = 'http.client.response.finish';

/** What the collector answered last, of which the SDK says nothing where it would have asked again. */
function watchResponses() {
  let status: number | undefined;
  const read = (message: unknown) => {
    const { request, response } = message as {
      readonly request: ClientRequest;
      readonly response: IncomingMessage;
    };
    if (/^OTel-/.test(String(request.getHeader('user-agent')))) status = response.statusCode;
  };
  subscribe(answered, read);
  return { lastStatus: () => status, close: () => void unsubscribe(answered, read) };
}
