import { Agent, request } from 'undici';
import { Refusal } from '../errors.ts';
import { type JsonObject, parseJsonObject } from './json-object.ts';

/** What a call sends; the part of oauth4webapi's `CustomFetchOptions` that matters here. */
export interface ProviderCall {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: URLSearchParams;
}

/**
 * Calls one provider over connections of its own, within bounds: no redirects, no compression, a limit on time and size.
 * What can't be had within them is {@link Refusal} `store_unavailable`.
 */
export interface ProviderNetwork {
  /** The JSON object of a 200; any other answer is a refusal. */
  getObject(url: string): Promise<JsonObject>;
  /** The whole answer, as oauth4webapi's `customFetch` wants it; redirects, 429 and 5xx are refusals. */
  fetch(url: string, call: ProviderCall): Promise<Response>;
  /** Ends every call and connection. */
  close(): Promise<void>;
}

/** Bounds of one call. */
export interface ProviderNetworkOptions {
  /** From the call to the last byte; default 5 s. */
  readonly timeoutMs?: number;
  /** Of the body; default 1 MiB. */
  readonly maxResponseBytes?: number;
}

const retryAfterSeconds = 5;

/** A refusal because the provider does not answer as it must; `cause` is for the log and holds no credential. */
export function providerUnavailable(cause: string): Refusal {
  return new Refusal('store_unavailable', { cause, retryAfterSeconds });
}

/** Creates the network of one provider: they share nothing, so that a slow one holds up no other. */
export function createProviderNetwork(options: ProviderNetworkOptions = {}): ProviderNetwork {
  const { timeoutMs = 5_000, maxResponseBytes = 1024 * 1024 } = options;
  const agent = new Agent({
    allowH2: false,
    connect: { timeout: timeoutMs },
    maxResponseSize: maxResponseBytes,
    // A connection a call: on one that the provider closes at that moment, a code would be lost for good.
    pipelining: 0,
  });

  async function call(url: string, { method, headers, body }: ProviderCall) {
    try {
      const answer = await request(url, {
        dispatcher: agent,
        method,
        headers: { ...headers, 'accept-encoding': 'identity' },
        body: body?.toString(),
        signal: AbortSignal.timeout(timeoutMs),
      });
      return { status: answer.statusCode, headers: answer.headers, bytes: await answer.body.bytes() };
    } catch (error) {
      throw providerUnavailable(`${nameOf(method, url)}: ${codeOf(error)}`);
    }
  }

  async function getObject(url: string): Promise<JsonObject> {
    const { status, bytes } = await call(url, { method: 'GET', headers: { accept: 'application/json' } });
    if (status !== 200) throw providerUnavailable(`${nameOf('GET', url)}: status ${status}`);
    // The content type is not judged: providers send keys as text/plain and octet-stream too.
    const object = parseJsonObject(bytes);
    if (object === undefined) throw providerUnavailable(`${nameOf('GET', url)}: no JSON object`);
    return object;
  }

  async function fetch(url: string, sent: ProviderCall): Promise<Response> {
    const { status, headers, bytes } = await call(url, sent);
    if ((status >= 300 && status < 400) || status === 429 || status >= 500)
      throw providerUnavailable(`${nameOf(sent.method, url)}: status ${status}`);
    const kept = ['content-type', 'www-authenticate'].flatMap((name) =>
      headers[name] === undefined ? [] : [[name, String(headers[name])] as [string, string]],
    );
    return new Response(status === 204 || status === 205 ? null : bytes, { status, headers: kept });
  }

  return { getObject, fetch, close: () => agent.destroy() };
}

/** Without the query, which may hold what is nobody's business. */
function nameOf(method: string, url: string): string {
  return `${method} ${url.split('?')[0]}`;
}

function codeOf(error: unknown): string {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  return typeof code === 'string' ? code : String(name);
}
