import { type DecisionMode, decisionModes } from '../../../src/config/sections/forward-auth.ts';
import { createCredentialWatch } from '../gateway/credential-watch.ts';
import { type Forwarding, startForwarding } from '../gateway/forwarding.ts';
import type { TestScope } from '../gateway/gateway.ts';
import { exchangeRaw, type RawResponse } from './raw-client.ts';

/** A mode in which questions are asked over HTTP/1.1. */
export type HttpMode = Exclude<DecisionMode, 'envoy_grpc'>;

/** Every one of them. */
export const httpModes = decisionModes.filter((mode): mode is HttpMode => mode !== 'envoy_grpc');

/** What a proxy asks about. */
export interface Question {
  readonly method?: string;
  readonly target: string;
  /** Further header lines of the client, as the proxy passes them on. */
  readonly lines?: readonly string[];
}

/** The request line and the headers by which a proxy of that kind describes a request. */
export function describingLines(mode: HttpMode, method: string, target: string): [string, string[]] {
  switch (mode) {
    case 'nginx':
    case 'haproxy':
      return ['GET / HTTP/1.1', [`X-Original-Method: ${method}`, `X-Original-URI: ${target}`]];
    case 'ingress_nginx':
      return [
        'GET / HTTP/1.1',
        [`X-Original-Method: ${method}`, `X-Original-URL: https://app.example${target}`],
      ];
    case 'traefik':
    case 'caddy':
      return ['GET / HTTP/1.1', [`X-Forwarded-Method: ${method}`, `X-Forwarded-Uri: ${target}`]];
    case 'envoy':
      return [`${method} /check${target} HTTP/1.1`, []];
  }
}

/** Sends a request as bytes; the connection closes after its response, which must hold no credential for the service. */
export async function sendQuestion(
  port: number,
  requestLine: string,
  lines: readonly string[],
): Promise<RawResponse> {
  const text = [requestLine, 'Connection: close', ...lines, '', ''].join('\r\n');
  const { responses } = await exchangeRaw(port, text);
  const [response] = responses;
  if (response === undefined || responses.length > 1) throw new Error(`${responses.length} responses`);
  const watch = createCredentialWatch();
  watch.search(requestLine, response.rawHeaders);
  watch.assertNone();
  return response;
}

/** A gateway with a listener for each kind of proxy. */
export interface Deciding extends Forwarding {
  portOf(mode: DecisionMode): number;
  /** Asks as that proxy does, on behalf of a client at 192.0.2.7. */
  ask(mode: HttpMode, question: Question): Promise<RawResponse>;
}

/** Starts the gateway; `settings` are for each listener, `config` replaces whole top-level sections. */
export async function startDeciding(
  t: TestScope,
  config: object = {},
  settings: object = {},
): Promise<Deciding> {
  const gateway = await startForwarding(t, {
    forward_auth: decisionModes.map((mode) => ({ mode, port: 0, ...settings })),
    ...config,
  });
  const portOf = (mode: DecisionMode) => gateway.decisionPorts[decisionModes.indexOf(mode)]!;
  return {
    ...gateway,
    portOf,
    ask(mode, { method = 'GET', target, lines = [] }) {
      const [requestLine, described] = describingLines(mode, method, target);
      const client = ['Host: app.example', 'X-Forwarded-For: 192.0.2.7', ...lines];
      return sendQuestion(portOf(mode), requestLine, [...client, ...described]);
    },
  };
}

/** The headers of a response that identify a caller, by name in lower case. */
export function identityIn({ rawHeaders }: RawResponse): Record<string, string> {
  const found: Record<string, string> = {};
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    if (name.startsWith('x-auth-') && name !== 'x-auth-code') found[name] = rawHeaders[i + 1]!;
  }
  return found;
}
