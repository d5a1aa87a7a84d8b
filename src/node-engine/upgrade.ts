import { Agent, type ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';
import { createProxyServer } from 'http-proxy-3';
import type { UpstreamRequest } from '../http1/client/client-request.ts';

/**
 * Asks an upstream for another protocol on `socket` through http-proxy-3. It gets our request in place of the client's, and one
 * end of a pair in place of the client's socket, so that both engines apply the same rules. Returns http-proxy-3's request, and
 * the other end of the pair, which begins with the response that http-proxy-3 wrote for the client.
 */
export function requestUpgrade(request: UpstreamRequest, socket: Socket): [ClientRequest, Duplex] {
  const [near, far] = duplexPair();
  let outgoing: ClientRequest | undefined;
  const proxy = createProxyServer({
    target: { protocol: 'http:', host: 'upstream', port: 80 },
    agent: Object.assign(new Agent(), { createConnection: () => socket }),
    method: request.method,
    ignorePath: true,
  });
  // http-proxy-3 accepts only a GET for a WebSocket; the values that it sends are set here.
  const asked = new IncomingMessage(socket);
  Object.assign(asked, { method: 'GET', url: '/', headers: { upgrade: 'websocket' } });
  proxy.on('proxyReqWs', (proxied: ClientRequest) => {
    outgoing = proxied;
    proxied.path = request.target;
    for (const name of proxied.getHeaderNames()) proxied.removeHeader(name);
    const { fields } = request;
    for (let i = 0; i < fields.length; i += 2) proxied.appendHeader(fields[i]!, fields[i + 1]!);
    // The response would be written to the pair.
    proxied.on('response', () => near.destroy());
    proxied.on('upgrade', () => near.on('close', () => far.destroy()));
  });
  far.on('close', () => socket.destroy());
  const chained = () => near;
  const client = { setTimeout: chained, setNoDelay: chained, setKeepAlive: chained };
  Object.assign(near, client, { destroySoon: () => near.destroy() });
  proxy.ws(asked, near as unknown as Socket, Buffer.alloc(0), () => {});
  return [outgoing!, far];
}
