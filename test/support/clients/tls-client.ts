import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';

/** What came of a connection: the status of a response, or the error that ended it (`closed` if there was none). */
export type TlsOutcome = number | string;

/** Sends a request and resolves with what came of it; the connection is closed then. */
export async function outcomeOf(port: number, options: ConnectionOptions = {}): Promise<TlsOutcome> {
  const socket = connectTo(port, options);
  const outcome = await request(socket);
  socket.destroy();
  return outcome;
}

/** A connection whose server is not verified. */
export function connectTo(port: number, options: ConnectionOptions = {}): TLSSocket {
  return connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
}

/** Sends a request on a connection that may be idle or just opening. */
export function request(socket: TLSSocket, path = '/api/open/x'): Promise<TlsOutcome> {
  return new Promise((resolve) => {
    socket.once('error', ({ code = 'EPROTO', message }: NodeJS.ErrnoException) => {
      // Node has no code of its own for every alert.
      resolve(code === 'EPROTO' ? message : code);
    });
    socket.once('close', () => resolve('closed'));
    socket.once('data', (chunk) => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(chunk.toString())?.[1])));
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  });
}
