import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { text as textOf } from 'node:stream/consumers';
import { parseUpstreamAddress } from '../../config/values/upstream-address.ts';

/** Time that a service has to respond, ms. */
const timeoutMs = 2_000;

/** Resolves to true if a service responds to GET `path` with exactly that text; to false if it doesn't, or can't be reached. */
export async function isServed(upstream: string, path: string, text: string): Promise<boolean> {
  const address = parseUpstreamAddress(upstream);
  if (address.kind === 'echo') return false;
  const options = { path, agent: false, signal: AbortSignal.timeout(timeoutMs) };
  const server =
    address.kind === 'socket' ? { socketPath: address.path } : { host: address.host, port: address.port };
  const request: typeof requestHttp = address.kind === 'server' && address.tls ? requestHttps : requestHttp;
  return new Promise((resolve) => {
    const no = () => resolve(false);
    request({ ...options, ...server }, (response) => {
      // A folder's file has a length, and is no stream without an end.
      if (Number(response.headers['content-length'] ?? text.length) > 2 * text.length + 1024) {
        response.destroy();
        return no();
      }
      textOf(response).then((body) => resolve(body === text), no);
    })
      .on('error', no)
      .end();
  });
}
