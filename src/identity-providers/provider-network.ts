import type { LookupFunction } from 'node:net';
import { Agent, request } from 'undici';
import { Refusal } from '../errors.ts';
import { type JsonObject, parseJsonObject } from './json-object.ts';
import { maxProviderConnections } from './max-provider-connections.ts';

/** A call: the parts of oauth4webapi's `CustomFetchOptions` that are used. */
export interface ProviderCall {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: URLSearchParams;
}

/**
 * Calls one provider over connections of its own, within bounds: no redirects, no compression, a limit on time and
 * size. A call that exceeds them rejects with {@link Refusal} `provider_unavailable`.
 */
export interface ProviderNetwork {
  /** Returns the JSON object in a response with status 200; any other response is an error. */
  getObject(url: string): Promise<JsonObject>;
  /** Returns the whole response, as oauth4webapi's `customFetch` expects; redirects, 429 and 5xx are errors. */
  fetch(url: string, call: ProviderCall): Promise<Response>;
  /** Ends every call and connection. */
  close(): Promise<void>;
}

/** Bounds of a call. */
export interface ProviderNetworkOptions {
  /** Timeout of {@link ProviderNetwork.getObject}, from the call to the last byte; default 4 s. */
  readonly documentTimeoutMs?: number;
  /** Timeout of {@link ProviderNetwork.fetch}, likewise; default 5 s. */
  readonly fetchTimeoutMs?: number;
  /** Resolves the host names of the provider; default: getaddrinfo(3). */
  readonly lookup?: LookupFunction;
}

/** Maximum size of a response's body, bytes. */
const maxResponseSize = 1024 * 1024;
const retryAfterSeconds = 5;
/** Codes of errors before a connection existed: nothing was sent. */
const unreached: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const asDocument: ProviderCall = { method: 'GET', headers: { accept: 'application/json' } };

/** The refusal if a provider fails to respond as it must; `cause` is for the log and contains no credential. */
export class ProviderUnavailable extends Refusal {
  /** True if the provider has certainly not acted on the call, so that it may be repeated. */
  readonly isUndone: boolean;

  constructor(cause: string, { isUndone = false }: { readonly isUndone?: boolean } = {}) {
    super('provider_unavailable', { cause, retryAfterSeconds });
    this.isUndone = isUndone;
  }
}

/** Creates the network of one provider; providers share nothing, so a slow one never delays another. */
export function createProviderNetwork(options: ProviderNetworkOptions = {}): ProviderNetwork {
  const { documentTimeoutMs = 4_000, fetchTimeoutMs = 5_000, lookup } = options;
  const agent = new Agent({
    allowH2: false,
    connections: maxProviderConnections,
    connect: { timeout: Math.max(documentTimeoutMs, fetchTimeoutMs), ...(lookup && { lookup }) },
    maxResponseSize,
    // One connection per call: a code sent on a connection that the provider is closing would be lost.
    pipelining: 0,
  });

  async function call(url: string, { method, headers, body }: ProviderCall, timeoutMs: number) {
    try {
      const response = await request(url, {
        dispatcher: agent,
        method,
        headers: { ...headers, 'accept-encoding': 'identity' },
        body: body?.toString(),
        signal: AbortSignal.timeout(timeoutMs),
      });
      return { status: response.statusCode, headers: response.headers, bytes: await response.body.bytes() };
    } catch (error) {
      const code = codeOf(error);
      throw new ProviderUnavailable(`${nameOf(method, url)}: ${code}`, { isUndone: unreached.has(code) });
    }
  }

  async function getObject(url: string): Promise<JsonObject> {
    const { status, bytes } = await call(url, asDocument, documentTimeoutMs);
    if (status !== 200) throw new ProviderUnavailable(`${nameOf('GET', url)}: status ${status}`);
    // The content type is ignored: providers send keys as text/plain and octet-stream, too.
    const object = parseJsonObject(bytes);
    if (object === undefined) throw new ProviderUnavailable(`${nameOf('GET', url)}: not a JSON object`);
    return object;
  }

  async function fetch(url: string, sent: ProviderCall): Promise<Response> {
    const { status, headers, bytes } = await call(url, sent, fetchTimeoutMs);
    if ((status >= 300 && status < 400) || status === 429 || status >= 500) {
      // Both mean that nothing was done yet (RFC 6585 §4, RFC 9110 §15.6.4); others may come after the fact.
      const isUndone = status === 429 || status === 503;
      throw new ProviderUnavailable(`${nameOf(sent.method, url)}: status ${status}`, { isUndone });
    }
    const kept = ['content-type', 'www-authenticate'].flatMap((name) =>
      headers[name] === undefined ? [] : [[name, String(headers[name])] as [string, string]],
    );
    return new Response(status === 204 || status === 205 ? null : bytes, { status, headers: kept });
  }

  return { getObject, fetch, close: () => agent.destroy() };
}

/** Names a call without the query, which may contain private data. */
function nameOf(method: string, url: string): string {
  return `${method} ${url.split('?')[0]}`;
}

function codeOf(error: unknown): string {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  return typeof code === 'string' ? code : String(name);
}
