import type { DecisionMode } from '../config/sections/forward-auth.ts';
import type { RefusalParts, RefusalShape } from '../http/reply.ts';

/** A kind of proxy: the form of its questions, and its abilities. */
export interface Mode {
  readonly name: DecisionMode;
  /**
   * Headers by which the proxy describes method and target of a request, in lower case; `isUrl`: scheme and authority precede the
   * target. Null: the question's own method and, after a fixed prefix or by gRPC, its target.
   */
  readonly described: { readonly method: string; readonly target: string; readonly isUrl: boolean } | null;
  /** Further headers that the proxy sets or overwrites, in lower case: a client's own never arrive. */
  readonly setByProxy: readonly string[];
  /** True if the proxy removes headers of the client's request by names in the answer. */
  readonly removesHeaders: boolean;
  /** True if the proxy may join several `Cookie` lines with commas, as if they were a list. */
  readonly joinsCookies: boolean;
  /** True if the proxy may join repeated credentials by commas: one with a comma may have been two. gRPC has its own reader. */
  readonly joinsCredentials: boolean;
  /** Status in which a refusal reaches the proxy. */
  readonly statusOf: (status: number) => number;
}

/** Headers about the sender that every proxy sets; some proxies set more. */
const sender = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host'];
const asItIs = (status: number) => status;
/** nginx turns every 4xx but 401 and 403 into a 500 (ngx_http_auth_request_module). */
const as403 = (status: number) => (status >= 400 && status < 500 && status !== 401 ? 403 : status);
/** With `failure_mode_allow` Envoy lets a request pass on a 5xx: a refusal must not look like a failure. */
const neverFailing = (status: number) => (status >= 500 ? 403 : status);

const original = { method: 'x-original-method', target: 'x-original-uri', isUrl: false };
const forwarded = { method: 'x-forwarded-method', target: 'x-forwarded-uri', isUrl: false };

/** Headers that Envoy sets itself; it doesn't overwrite a client's X-Forwarded-Host, -Port and X-Real-IP. */
const ofEnvoy = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-client-cert'];

/** Abilities of a proxy that neither removes nor joins headers. */
const changesNothing = { removesHeaders: false, joinsCookies: false, joinsCredentials: false };

/** Header with the comma-separated names of headers for Envoy to remove. */
export const removalHeader = 'x-envoy-auth-headers-to-remove';

/** Every mode of `forward_auth`. */
export const modes: Readonly<Record<DecisionMode, Mode>> = {
  nginx: {
    name: 'nginx',
    described: original,
    setByProxy: [...sender, 'x-real-ip'],
    ...changesNothing,
    statusOf: as403,
  },
  ingress_nginx: {
    name: 'ingress_nginx',
    described: { method: 'x-original-method', target: 'x-original-url', isUrl: true },
    // The last header is the location to lead a browser to after a sign-in, which Postern doesn't read.
    setByProxy: [...sender, 'x-real-ip', 'x-forwarded-port', 'x-forwarded-scheme', 'x-auth-request-redirect'],
    ...changesNothing,
    statusOf: as403,
  },
  haproxy: {
    name: 'haproxy',
    described: original,
    setByProxy: sender,
    ...changesNothing,
    statusOf: asItIs,
  },
  traefik: {
    name: 'traefik',
    described: forwarded,
    setByProxy: [...sender, 'x-real-ip', 'x-forwarded-port', 'x-forwarded-server'],
    ...changesNothing,
    statusOf: asItIs,
  },
  caddy: {
    name: 'caddy',
    described: forwarded,
    setByProxy: sender,
    ...changesNothing,
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

/** The shape of a refusal for the proxy: a status that it understands, with the code beside it. */
export function refusalShapeOf({ statusOf }: Mode): RefusalShape {
  return (parts: RefusalParts) => ({
    ...parts,
    status: statusOf(parts.status),
    headers: [...parts.headers, 'X-Auth-Code', parts.code],
  });
}
