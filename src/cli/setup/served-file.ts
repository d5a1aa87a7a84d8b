import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { text as textOf } from 'node:stream/consumers';
import { parseUpstreamAddress } from '../../config/values/upstream-address.ts';

/** Time that a service has to respond, ms. */
const timeoutMs = 2_000;

/** Errors of a service that isn't there, in contrast to one that is slow or speaks another protocol. */
const absent: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
  'EACCES',
]);

/** The outcome of asking a service for a file: it has it, it doesn't seem to, or nothing is there to respond. */
export type Asked = 'served' | 'not served' | 'absent';

/** Asks a service for GET `path`, which is `served` if the response is exactly that text. */
export async function askForFile(upstream: string, path: string, text: string): Promise<Asked> {
  const address = parseUpstreamAddress(upstream);
  if (address.kind === 'echo') return 'not served';
  // Nothing secret is sent, so that the certificate doesn't matter.
  const options = { path, agent: false, rejectUnauthorized: false, signal: AbortSignal.timeout(timeoutMs) };
  const server =
    address.kind === 'socket' ? { socketPath: address.path } : { host: address.host, port: address.port };
  const request: typeof requestHttp = address.kind === 'server' && address.tls ? requestHttps : requestHttp;
  return new Promise((resolve) => {
    const no = () => resolve('not served');
    request({ ...options, ...server }, (response) => {
      // A folder's file has a length, and is no stream without an end.
      if (Number(response.headers['content-length'] ?? text.length) > 2 * text.length + 1024) {
        response.destroy();
        return no();
      }
      textOf(response).then((body) => resolve(body === text ? 'served' : 'not served'), no);
    })
      .on('error', ({ code = '' }: NodeJS.ErrnoException) =>
        resolve(absent.has(code) ? 'absent' : 'not served'),
      )
      .end();
  });
}
