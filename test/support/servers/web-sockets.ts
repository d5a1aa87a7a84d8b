import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ClientOptions, WebSocket, WebSocketServer } from 'ws';
import { createCredentialWatch } from '../gateway/credential-watch.ts';
import { type Forwarding, startForwarding } from '../gateway/forwarding.ts';
import type { TestScope } from '../gateway/gateway.ts';

/** The upstream's end of a WebSocket. */
export interface AcceptedSocket {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
  /** The code with which it was closed; 1006 when it broke off. */
  readonly closed: Promise<number>;
}

/** An upstream that accepts every WebSocket and sends each message back. */
export interface WebSocketUpstream {
  readonly url: string;
  /** In order of arrival. */
  readonly accepted: readonly AcceptedSocket[];
}

export interface WebSocketUpstreamOptions {
  /** The offered subprotocol that it chooses; none by default. */
  readonly choose?: (offered: Set<string>) => string | false;
  /** What it does with a new socket, instead of echoing messages. */
  readonly onSocket?: (socket: WebSocket) => void;
}

/** Largest message of the tests, in bytes. */
const maxPayload = 32 * 1024 * 1024;

/** Starts the upstream on a free loopback port. */
export async function startWebSocketUpstream(
  t: TestScope,
  { choose = () => false, onSocket = sendBack }: WebSocketUpstreamOptions = {},
): Promise<WebSocketUpstream> {
  const watch = createCredentialWatch();
  const http = createServer();
  const server = new WebSocketServer({ server: http, handleProtocols: choose, maxPayload });
  const accepted: AcceptedSocket[] = [];
  server.on('connection', (socket, request) => {
    watch.search(request.url!, request.rawHeaders);
    socket.on('error', () => {});
    accepted.push({ socket, request, closed: closeCodeOf(socket) });
    onSocket(socket);
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  t.teardown(() => {
    for (const socket of server.clients) socket.terminate();
    http.close();
    http.closeAllConnections();
    watch.assertNone();
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, accepted };
}

function sendBack(socket: WebSocket): void {
  socket.on('message', (data: Buffer, binary) => socket.send(data, { binary }));
}

/** A gateway in front of it. */
export interface WebSocketGateway extends Forwarding {
  readonly sockets: WebSocketUpstream;
}

/** Another origin from which browsers may sign in. */
export const frontOrigin = 'https://front.example';

/** Starts both; `config` replaces whole sections. A test that leaves sockets open need not wait for their end. */
export async function startWebSocketGateway(
  t: TestScope,
  options: WebSocketUpstreamOptions & { readonly config?: object } = {},
): Promise<WebSocketGateway> {
  const sockets = await startWebSocketUpstream(t, options);
  const config = {
    upstreams: { app: { url: sockets.url } },
    cors: { origins: [frontOrigin] },
    shutdown: { timeout: '50ms' },
    ...options.config,
  };
  return { ...(await startForwarding(t, config)), sockets };
}

/** Resolves with the close code, 1006 when it broke off. */
export async function closeCodeOf(socket: WebSocket): Promise<number> {
  const [code] = await once(socket, 'close');
  return code;
}

/** A handshake that was refused. */
export interface RefusedHandshake {
  readonly status: number;
  readonly text: string;
}

/** The options of a client's handshake. */
export type Handshake = ClientOptions & { readonly protocols?: string[] };

/** Opens a WebSocket to a path of a gateway; returns the refusal if there is one. */
export async function tryWebSocket(
  port: number,
  path: string,
  { protocols = [], ...options }: Handshake = {},
): Promise<WebSocket | RefusedHandshake> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, protocols, { maxPayload, ...options });
  return new Promise((resolve, reject) => {
    socket.on('open', () => resolve(socket));
    socket.on('error', reject);
    socket.on('unexpected-response', async (request, response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      request.destroy();
      resolve({ status: response.statusCode!, text });
    });
  });
}

/** Opens a WebSocket; rejects when it is refused. */
export async function openWebSocket(port: number, path: string, handshake?: Handshake): Promise<WebSocket> {
  const socket = await tryWebSocket(port, path, handshake);
  if (!(socket instanceof WebSocket)) throw new Error(`the handshake was answered ${socket.status}`);
  return socket;
}

/** The header lines, besides `Host` and a credential, that request a WebSocket. */
export const webSocketLines = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
] as const;
