import type { Socket } from 'node:net';

/** Cuts a client's connection and unsent data, so that a truncated response can't be taken for a complete one. */
export function cutSocket(socket: Socket, encrypted: boolean): void {
  if (socket.destroyed) return;
  // Then everything has been sent; and libuv can't reset a socket that is shutting down: Node would leak it, open.
  const isEnding = socket.writableEnded && socket.writableLength === 0;
  // TLS has no reset; closing without close_notify means the same.
  if (encrypted || isEnding) socket.destroy();
  else socket.resetAndDestroy();
}
