import type { Socket } from 'node:net';
import type { Dialler } from '../../../src/http1/client/dialler.ts';

/** Opens no connection but waits for that of a socket, as if it had begun to connect by itself. */
export function givenSocket(socket: Socket): Dialler {
  return {
    dial(handler) {
      socket.once('connect', () => handler.onConnected(socket, null));
      return { delay: undefined, destroy: () => void socket.destroy() };
    },
  };
}
