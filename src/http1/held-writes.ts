import type { Socket } from 'node:net';

let held: Socket[] = [];

/**
 * Holds what is written on the socket until the event loop's turn ends. A write that wakes a sleeping peer costs the
 * kernel more than the write itself: writes sent together at the end of the turn wake it once, writes spread over the
 * turn may each wake it again. Ending the socket sends what is held; destroying it doesn't.
 */
export function holdWrites(socket: Socket): void {
  if (held.length === 0) setImmediate(releaseWrites);
  held.push(socket);
  socket.cork();
}

function releaseWrites(): void {
  const sockets = held;
  held = [];
  for (const socket of sockets) socket.uncork();
}
