import type { DecisionMode } from '../config/sections/forward-auth.ts';
import type { RefusalParts, RefusalShape } from '../http/reply.ts';

/** Names, in lower case, of the headers that describe a request. */
export interface DescribingHeaders {
  readonly method: string;
  readonly target: string;
  /** The header of the target if that is a URL. */
  readonly host: string;
  readonly isUrl: boolean;
}

/** A kind of proxy: the form of its questions, and its abilities. */
export interface Mode {
  readonly name: DecisionMode;
  /**
   * Headers, in lower case, with the method, the target and the host of the request asked about; `isUrl`: scheme and authority,
   * which is the host, precede the target. Null: the question's own method, host and, after a fixed prefix, target; over gRPC,
   * those in its message.
   */
  readonly described: DescribingHeaders | null;
  /** Further headers that the proxy sets or overwrites, in lower case: a client's own never arrive. */
  readonly setByProxy: readonly string[];
  /** True if the proxy removes those headers of the client's request that the answer names. */
  readonly removesHeaders: boolean;
  /** True if the proxy may join several `Cookie` lines with commas, as if they were a list. */
  readonly joinsCookies: boolean;
  /** True if the proxy hands on only the first `WWW-Authenticate` of a refusal. */
  readonly joinsChallenges: boolean;
  /** True if repeated credentials may reach us joined by commas; over gRPC checked-request.ts has split them again. */
  readonly joinsCredentials: boolean;
  /** True if the proxy can't hand on a redirect: the location is in `X-Auth-Location` of a 401. */
  readonly redirectsItself: boolean;
  /** Maps the status of a refusal to one that the proxy understands. */
  readonly statusOf: (status: number) => number;
}

/** Headers about the sender that all proxies except Envoy set; some proxies set more. */
const sender = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host'];
const asItIs = (status: number) => status;
/** Maps any 4xx except 401 to 403: nginx turns every other 4xx into a 500 (ngx_http_auth_request_module). */
const as403 = (status: number) => (status >= 400 && status < 500 && status !== 401 ? 403 : status);
/** Maps 5xx to 403: with `failure_mode_allow` Envoy takes a 5xx for a failure, and lets the request pass. */
const neverFailing = (status: number) => (status >= 500 ? 403 : status);

const original: DescribingHeaders = {
  method: 'x-original-method',
  target: 'x-original-uri',
  host: 'x-original-host',
  isUrl: false,
};
const originalUrl: DescribingHeaders = {
  method: 'x-original-method',
  target: 'x-original-url',
  host: 'x-original-url',
  isUrl: true,
};
const forwarded: DescribingHeaders = {
  method: 'x-forwarded-method',
  target: 'x-forwarded-uri',
  host: 'x-forwarded-host',
  isUrl: false,
};

/** Headers that Envoy sets itself; it doesn't overwrite a client's X-Forwarded-Host, X-Forwarded-Port or X-Real-IP. */
const ofEnvoy = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-client-cert'];

/** Abilities of a proxy that neither removes nor joins headers. */
const changesNothing = {
  removesHeaders: false,
  joinsCookies: false,
  joinsCredentials: false,
  joinsChallenges: false,
  redirectsItself: false,
};

/** Header with the comma-separated names of headers for Envoy to remove. */
export const removalHeader = 'x-envoy-auth-headers-to-remove';

/** Every mode of `forward_auth`. */
export const modes: Readonly<Record<DecisionMode, Mode>> = {
  nginx: {
    name: 'nginx',
    described: original,
    setByProxy: [...sender, 'x-real-ip'],
    ...changesNothing,
    joinsChallenges: true,
    redirectsItself: true,
    statusOf: as403,
  },
  ingress_nginx: {
    name: 'ingress_nginx',
    described: originalUrl,
    // The last header is the location to lead a browser to after a sign-in, which Postern doesn't read.
    setByProxy: [...sender, 'x-real-ip', 'x-forwarded-port', 'x-forwarded-scheme', 'x-auth-request-redirect'],
    ...changesNothing,
    joinsChallenges: true,
    redirectsItself: true,
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
    joinsChallenges: false,
    redirectsItself: false,
    statusOf: neverFailing,
  },
  envoy_grpc: {
    name: 'envoy_grpc',
    described: null,
    setByProxy: ofEnvoy,
    removesHeaders: true,
    joinsCookies: true,
    joinsCredentials: false,
    joinsChallenges: false,
    redirectsItself: false,
    statusOf: asItIs,
  },
};

/** The shape of refusals for the proxy: a status that it understands, with the refusal's code in `X-Auth-Code`. */
export function refusalShapeOf({ statusOf, joinsChallenges }: Mode): RefusalShape {
  return (parts: RefusalParts) => ({
    ...parts,
    status: statusOf(parts.status),
    headers: [
      ...(joinsChallenges ? withOneChallenge(parts.headers) : parts.headers),
      ...['X-Auth-Code', parts.code],
    ],
  });
}

const challengeName = 'WWW-Authenticate';

/** Joins several challenges to a list in one field (RFC 9110 §11.6.1). `headers`: names and values in turn. */
function withOneChallenge(headers: readonly string[]): readonly string[] {
  const isChallenge = (index: number) => headers[index - (index % 2)] === challengeName;
  const challenges = headers.filter((_, index) => isChallenge(index) && index % 2 === 1);
  if (challenges.length < 2) return headers;
  const others = headers.filter((_, index) => !isChallenge(index));
  return [challengeName, challenges.join(', '), ...others];
}
