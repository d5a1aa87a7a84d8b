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
import type { TracingSettings } from './environment.ts';
import type { Attributes, Span, SpanSource, SpanStart } from './span.ts';
import { formatTraceparent, parseTraceparent } from './traceparent.ts';

/** Called when spans can't be exported, and when they can again; `reason` is a code, a status or a name. */
export interface ExportEvents {
  onUnavailable(reason: string): void;
  onAvailable(): void;
}

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;
const failureAttribute = 'error.type';
/** Time that the end of the process waits for an unresponsive collector, ms. */
const maxCloseMs = 2_000;

/**
 * Creates spans with the OpenTelemetry SDK, exported by OTLP over HTTP as the environment says. Only this file imports the SDK,
 * and it is loaded only if there is something to export. `attributes` name the service; the environment overrides them.
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
      const late = new Promise((resolve) => setTimeout(resolve, maxCloseMs).unref());
      await Promise.race([provider.shutdown().catch(() => {}), late]);
    },
  };
}

/** Begins a span; null if it is not sampled, so that it costs no more than this check. */
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
    // Background work after the response is no longer part of the request.
    begin: (start) =>
      span.isRecording() ? beginSpan(tracer, start, trace.setSpan(ROOT_CONTEXT, span)) : null,
    rename: (name) => void span.updateName(name),
    annotate: (attributes) => void span.setAttributes(attributes),
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

function createSampler({ name, ratio }: TracingSettings['sampler']): Sampler {
  const root = createRootSampler(name.replace('parentbased_', ''), ratio);
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

function createRootSampler(name: string, ratio: number): Sampler {
  if (name === 'always_on') return new AlwaysOnSampler();
  return name === 'always_off' ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(ratio);
}

/** Reports failing exports once, until one succeeds again. */
function withEvents(exporter: SpanExporter, { onUnavailable, onAvailable }: ExportEvents): SpanExporter {
  let isDown = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.error !== undefined;
        if (failed !== isDown) {
          isDown = failed;
          if (result.error === undefined) onAvailable();
          else onUnavailable(reasonOf(result.error));
        }
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}

/** Reasons by the SDK's messages, for errors with neither a code nor a status. */
const reasonsByMessage: ReadonlyMap<string, string> = new Map([
  ['Request timed out', 'timed out'],
  ['Export failed with retryable status', 'HTTP 429, 502, 503 or 504'],
]);

/** The reason of a failed export, never the error's text, which may contain the collector's address and headers. */
function reasonOf(error: Error): string {
  const { code } = error as { readonly code?: unknown };
  if (typeof code === 'number') return `HTTP ${code}`;
  return code === undefined ? (reasonsByMessage.get(error.message) ?? error.name) : String(code);
}
