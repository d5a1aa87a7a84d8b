import type { DecisionMode } from '../config/sections/forward-auth.ts';
import type { RefusalParts, RefusalShape } from '../http/reply.ts';

/** The headers of a proxy's question that name method and target of the request it is about, in lower case. */
export interface DescribingHeaders {
  readonly method: string;
  readonly target: string;
  /** True if the target follows a scheme and an authority. */
  readonly isUrl: boolean;
}

/** How one kind of proxy asks, and what it understands. */
export interface Mode {
  readonly name: DecisionMode;
  /** Null: the question itself has the method and, after a fixed prefix or by gRPC, the target. */
  readonly described: DescribingHeaders | null;
  /** Further headers that the proxy sets or overwrites, in lower case: what a client sent by these names is gone. */
  readonly setByProxy: readonly string[];
  /** True if the proxy removes headers of the client's request when it is told their names. */
  readonly removesHeaders: boolean;
  /** True if the proxy may join several `Cookie` lines with commas, as if they were a list. */
  readonly joinsCookies: boolean;
  /** True if the proxy may join repeated credentials with commas: one with a comma may have been two. gRPC has its own reader. */
  readonly joinsCredentials: boolean;
  /** The status under which a refusal reaches the proxy. */
  readonly statusOf: (status: number) => number;
}

/** Headers about the sender that every proxy sets; some proxies set more. */
const sender = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host'];
const asItIs = (status: number) => status;
/** nginx makes a 500 of every 4xx but these two (ngx_http_auth_request_module). */
const as403 = (status: number) => (status >= 400 && status < 500 && status !== 401 ? 403 : status);
/** Envoy lets a request pass upon a 5xx if it is told to (`failure_mode_allow`): a refusal must not look like a failure. */
const neverFailing = (status: number) => (status >= 500 ? 403 : status);

const original = { method: 'x-original-method', target: 'x-original-uri', isUrl: false };
const forwarded = { method: 'x-forwarded-method', target: 'x-forwarded-uri', isUrl: false };

/** What Envoy sets itself: it doesn't overwrite a client's X-Forwarded-Host, -Port and X-Real-IP. */
const ofEnvoy = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-client-cert'];

/** The names of headers for Envoy to remove, with commas between them. */
export const removalHeader = 'x-envoy-auth-headers-to-remove';

/** Every mode of `forward_auth`. */
export const modes: Readonly<Record<DecisionMode, Mode>> = {
  nginx: {
    name: 'nginx',
    described: original,
    setByProxy: [...sender, 'x-real-ip'],
    removesHeaders: false,
    joinsCookies: false,
    joinsCredentials: false,
    statusOf: as403,
  },
  ingress_nginx: {
    name: 'ingress_nginx',
    described: { method: 'x-original-method', target: 'x-original-url', isUrl: true },
    // The last one is where a browser would be led after a sign-in; nothing here reads it.
    setByProxy: [...sender, 'x-real-ip', 'x-forwarded-port', 'x-forwarded-scheme', 'x-auth-request-redirect'],
    removesHeaders: false,
    joinsCookies: false,
    joinsCredentials: false,
    statusOf: as403,
  },
  haproxy: {
    name: 'haproxy',
    described: original,
    setByProxy: sender,
    removesHeaders: false,
    joinsCookies: false,
    joinsCredentials: false,
    statusOf: asItIs,
  },
  traefik: {
    name: 'traefik',
    described: forwarded,
    setByProxy: [...sender, 'x-real-ip', 'x-forwarded-port', 'x-forwarded-server'],
    removesHeaders: false,
    joinsCookies: false,
    joinsCredentials: false,
    statusOf: asItIs,
  },
  caddy: {
    name: 'caddy',
    described: forwarded,
    setByProxy: sender,
    removesHeaders: false,
    joinsCookies: false,
    joinsCredentials: false,
    statusOf: asItIs,
  },
  envoy: {
    name: 'envoy',
    described: null,
    setByProxy: ofEnvoy,
    removesHeaders: true,
    joinsCookies: true,
    joinsCredentials: true,
    statusOf: neverFailing,
  },
  envoy_grpc: {
    name: 'envoy_grpc',
    described: null,
    setByProxy: ofEnvoy,
    removesHeaders: true,
    joinsCookies: true,
    joinsCredentials: false,
    statusOf: asItIs,
  },
};

/** What a refusal looks like to the proxy: in a status that it understands, with the code beside it. */
export function refusalShapeOf({ statusOf }: Mode): RefusalShape {
  return (parts: RefusalParts) => ({
    ...parts,
    status: statusOf(parts.status),
    headers: [...parts.headers, 'X-Auth-Code', parts.code],
  });
}
