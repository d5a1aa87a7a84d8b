import type { Socket } from 'node:net';

let held: Socket[] = [];

/**
 * Keeps what is written on the socket from now on back until the event loop's turn ends. Writes that then go out one
 * after another find the peer awake; spread over the turn each of them would have to wake it, which costs the kernel
 * more than the write itself. What ends the socket sends what is held; what destroys it does not.
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
