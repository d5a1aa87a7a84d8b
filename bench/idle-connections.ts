import { connect, type Socket } from 'node:net';
import { urlOf } from './measure.ts';
import type { RunningPeer } from './peers/peer.ts';

/** Connections that have had a response and are kept. */
export interface IdleConnections {
  /** How many the peer has not closed so far. */
  held(): number;
  close(): void;
}

const parallel = 50;
const headEnd = '\r\n\r\n';

/** Opens connections to a peer, a few at a time, and sends one request on each; rejects if one has no 200. */
export async function holdIdleConnections(running: RunningPeer, count: number): Promise<IdleConnections> {
  const { header, values } = running.credentials;
  const { host, port, pathname } = new URL(urlOf(running));
  const sockets = new Set<Socket>();
  let opened = 0;
  const open = async () => {
    while (opened < count) {
      const value = values[opened % values.length] ?? '';
      opened += 1;
      const request = `GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\n${header}: ${value}${headEnd}`;
      const socket = await exchange(Number(port), request);
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    }
  };
  const close = () => {
    // With a reset, or their ports would be taken for another minute.
    for (const socket of sockets) socket.resetAndDestroy();
  };
  try {
    await Promise.all(Array.from({ length: parallel }, open));
  } catch (error) {
    close();
    throw error;
  }
  return { held: () => sockets.size, close };
}

/** Opens a connection and waits for a response of 1 KiB. */
function exchange(port: number, request: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => socket.write(request));
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      text += chunk;
      const end = text.indexOf(headEnd);
      if (end < 0 || text.length < end + headEnd.length + 1024) return;
      if (text.startsWith('HTTP/1.1 200 ')) resolve(socket);
      else reject(new Error(`an idle connection began with ${text.slice(0, 40)}`));
      socket.removeAllListeners('data').resume();
      text = '';
    });
    socket.on('error', reject);
    socket.once('close', () => reject(new Error('an idle connection was closed before its response')));
  });
}
