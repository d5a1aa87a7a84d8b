import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { TestScope } from '../gateway/gateway.ts';
import { plainResponse } from './raw-upstream.ts';

/** What an upstream does to a request instead of answering it; also `accepted`: as soon as it is connected to. */
export type Fault = (socket: Socket, when: 'accepted' | 'asked') => void;

/** An upstream that responds correctly except to `…/fault`. */
export interface FaultyUpstream {
  readonly port: number;
  readonly url: string;
  /** What it does to new connections and to requests to `…/fault`; null: nothing, and a good response. */
  fault: Fault | null;
  /** Complete requests to `…/fault` so far. */
  readonly faults: number;
  /** Connections open now. */
  readonly open: number;
  /** Stops listening and ends every connection. */
  close(): Promise<void>;
  /** Listens again where it did. */
  reopen(): Promise<void>;
}

/** Starts it. Responses to `…/last` are correct, with `Connection: close`. */
export async function startFaultyUpstream(t: TestScope): Promise<FaultyUpstream> {
  const sockets = new Set<Socket>();
  let faults = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      for (let length = lengthOf(text); length > 0; length = lengthOf(text)) {
        const request = text.slice(0, length);
        text = text.slice(length);
        const isFault = /^\S+ \S+\/fault /.test(request);
        if (isFault) faults++;
        if (isFault && upstream.fault !== null) upstream.fault(socket, 'asked');
        else if (/^\S+ \S+\/last /.test(request)) socket.end(plainResponse('fine', 'Connection: close'));
        else socket.write(plainResponse());
      }
    });
    upstream.fault?.(socket, 'accepted');
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const upstream: FaultyUpstream = {
    port,
    url: `http://127.0.0.1:${port}`,
    fault: null,
    get faults() {
      return faults;
    },
    get open() {
      return sockets.size;
    },
    close,
    reopen: () => listen(port),
  };
  t.teardown(close);
  return upstream;
}

/** Length of the first request in the text with its body; 0 when it is not all there. */
function lengthOf(text: string): number {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return 0;
  const body = Number(/\ncontent-length: (\d+)/i.exec(text.slice(0, headEnd))?.[1] ?? 0);
  return text.length < headEnd + 4 + body ? 0 : headEnd + 4 + body;
}
