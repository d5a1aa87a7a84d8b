import type { Socket } from 'node:net';

/** Cuts a client's connection, and what is still on its way there: it can't take that for whole. */
export function cutSocket(socket: Socket, encrypted: boolean): void {
  if (socket.destroyed) return;
  // Nothing is left to cut then; and libuv resets no socket whose end is on its way, so that Node would lose it open.
  const isEnding = socket.writableEnded && socket.writableLength === 0;
  // TLS has no reset of its own: a close without its close_notify says the same.
  if (encrypted || isEnding) socket.destroy();
  else socket.resetAndDestroy();
}
