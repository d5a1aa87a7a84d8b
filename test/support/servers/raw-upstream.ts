import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createCredentialWatch } from '../gateway/credential-watch.ts';
import type { TestScope } from '../gateway/gateway.ts';

/** One request received by the raw upstream. */
export interface RawUpstreamRequest {
  readonly socket: Socket;
  /** The head with its empty line, and whatever arrived with it. */
  readonly text: string;
  /** How many requests preceded it on this connection. */
  readonly index: number;
}

/** An upstream that responds with any bytes that a test wants. */
export interface RawUpstream {
  readonly url: string;
  /** Connections accepted so far. */
  readonly accepted: number;
  /** Connections open now. */
  readonly open: number;
  /** Every byte received on any connection, as latin1 text. */
  readonly received: string;
}

/** Starts it on a free loopback port or on a socket path; `response` is called for every request head without a body. */
export async function startRawUpstream(
  t: TestScope,
  response: (request: RawUpstreamRequest) => void,
  path?: string,
): Promise<RawUpstream> {
  const watch = createCredentialWatch();
  const sockets = new Set<Socket>();
  const state = { accepted: 0, received: '' };
  const server = createServer((socket) => {
    state.accepted++;
    sockets.add(socket);
    let text = '';
    let index = 0;
    socket.on('data', (chunk: Buffer) => {
      const came = chunk.toString('latin1');
      state.received += came;
      text += came;
      if (!text.includes('\r\n\r\n')) return;
      watch.searchText(text);
      const request = { socket, text, index: index++ };
      text = '';
      response(request);
    });
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => {
    if (path === undefined) server.listen(0, '127.0.0.1', resolve);
    else server.listen(path, resolve);
  });
  t.teardown(async () => {
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
    watch.assertNone();
  });
  return {
    url: path === undefined ? `http://127.0.0.1:${(server.address() as AddressInfo).port}` : `unix:${path}`,
    get accepted() {
      return state.accepted;
    },
    get open() {
      return sockets.size;
    },
    get received() {
      return state.received;
    },
  };
}

/** A complete response whose body is the text. */
export function plainResponse(text = 'fine', ...headers: string[]): string {
  const lines = ['HTTP/1.1 200 OK', `Content-Length: ${Buffer.byteLength(text)}`, ...headers];
  return `${lines.join('\r\n')}\r\n\r\n${text}`;
}
