import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { TestScope } from '../gateway/gateway.ts';
import { listenOnLoopback } from './http-upstream.ts';

/** A request as a server of Node's own read it. */
export interface ReadRequest {
  readonly method: string;
  readonly target: string;
  readonly rawHeaders: readonly string[];
  body: string;
  /** Its body was complete. */
  whole: boolean;
  /** Identifies the response to it. */
  readonly mark: string;
}

/** A server that records what it reads, by sender. */
export interface ReadingServer {
  readonly port: number;
  /** What it could not read, with its bytes, by the address of the peer. */
  readonly errors: ReadonlyMap<string, string>;
  /** In order of arrival. */
  requestsOf(sender: string): ReadRequest[];
  readonly senders: ReadonlyMap<string, ReadRequest[]>;
}

/**
 * Starts it on a free loopback port; `lenient`: with llhttp's lenient mode, which accepts whatever some upstream may.
 * `senderOf` returns the sender of a request.
 */
export async function startReadingServer(
  t: TestScope,
  lenient: boolean,
  senderOf: (request: IncomingMessage) => string,
): Promise<ReadingServer> {
  const senders = new Map<string, ReadRequest[]>();
  const errors = new Map<string, string>();
  const server: Server = createServer(
    { insecureHTTPParser: lenient, maxHeaderSize: 256 * 1024, requireHostHeader: !lenient },
    (request, response) => {
      const sender = senderOf(request);
      const all = senders.get(sender) ?? [];
      senders.set(sender, all);
      const mark = `${sender}/${all.length}`;
      const read: ReadRequest = {
        method: request.method!,
        target: request.url!,
        rawHeaders: request.rawHeaders,
        body: '',
        whole: false,
        mark,
      };
      all.push(read);
      request.setEncoding('latin1');
      request.on('data', (text: string) => {
        read.body += text;
      });
      request.on('error', () => {});
      request.on('end', () => {
        read.whole = true;
        response.writeHead(200, { 'X-Mark': mark }).end('read');
      });
    },
  );
  server.on('clientError', (error: Error & { code?: string; rawPacket?: Buffer }, socket) => {
    const peer = (socket as Socket).remoteAddress ?? '';
    // A request that was cut off isn't malformed.
    if (error.code !== 'ECONNRESET' && error.code !== 'HPE_INVALID_EOF_STATE')
      errors.set(peer, `${error.code} ${JSON.stringify(error.rawPacket?.toString('latin1').slice(0, 600))}`);
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
    else socket.destroy();
  });
  const port = await listenOnLoopback(t, server);
  return {
    port,
    errors,
    senders,
    requestsOf: (sender) => senders.get(sender) ?? [],
  };
}
