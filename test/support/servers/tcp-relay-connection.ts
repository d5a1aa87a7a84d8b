import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A connection of a client through to the server. */
export interface TcpRelayConnection {
  /** The first piece that the client sent; null before it came. */
  readonly opening: Buffer | null;
  /** Nothing is passed on any more, either way, not even an end. */
  silence(): void;
  /** Ends it, whatever is under way. */
  cut(): void;
}

/**
 * Passes bytes between `client` and that loopback port. `onOpening` is called before the first piece of the client is
 * passed on; `delayMs` is asked about each of its pieces.
 */
export function relayTcp(
  client: Socket,
  targetPort: number,
  onOpening: (connection: TcpRelayConnection) => void,
  delayMs: (connection: TcpRelayConnection) => number,
): TcpRelayConnection {
  const server = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true });
  let opening: Buffer | null = null;
  let isSilent = false;
  /** Pieces that wait, and what passes them on in the order in which they came. */
  let waiting = 0;
  let queue: Promise<unknown> = Promise.resolve();

  const connection: TcpRelayConnection = {
    get opening() {
      return opening;
    },
    silence() {
      isSilent = true;
    },
    cut() {
      isSilent = true;
      client.destroy();
      server.destroy();
    },
  };
  const passLater = (pass: () => void) => {
    const milliseconds = delayMs(connection);
    if (milliseconds === 0 && waiting === 0) return pass();
    waiting++;
    const turn = Promise.all([queue, sleep(milliseconds, undefined, { ref: false })]);
    queue = turn.then(() => {
      waiting--;
      pass();
    });
  };

  client.on('data', (piece: Buffer) => {
    if (opening === null) {
      opening = piece;
      onOpening(connection);
    }
    passLater(() => void (isSilent || server.write(piece)));
  });
  client.on('end', () => passLater(() => void (isSilent || server.end())));
  client.on('close', () => passLater(() => server.destroySoon()));
  server.on('data', (piece: Buffer) => void (isSilent || client.write(piece)));
  server.on('end', () => void (isSilent || client.end()));
  server.on('close', () => void (isSilent || client.destroySoon()));
  for (const socket of [client, server]) {
    socket.setNoDelay();
    socket.on('error', () => {});
  }
  return connection;
}
