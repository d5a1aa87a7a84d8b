import type { Socket } from 'node:net';

const piece = Buffer.alloc(256 * 1024, 'x');

/** Writes that many bytes as fast as the socket accepts them. */
export function sendBody(socket: Socket, bytes: number): void {
  let left = bytes;
  const more = () => {
    let takes = true;
    while (takes && left > 0) {
      const next = left < piece.length ? piece.subarray(0, left) : piece;
      left -= next.length;
      takes = socket.write(next);
    }
    if (left === 0) socket.off('drain', more);
  };
  socket.on('drain', more);
  more();
}
