import { Socket } from 'node:net';
import { Client, type ClientConfig } from 'pg';

/** A socket whose data, where whoever reads them throws, end the connection with that error. */
class CheckedSocket extends Socket {
  override emit(event: string | symbol, ...args: unknown[]): boolean {
    return event === 'data'
      ? emitChecked(this, () => super.emit(event, ...args))
      : super.emit(event, ...args);
  }
}

/** What the driver keeps to itself: its connection, which turns to TLS on a socket of its own. */
interface Driver {
  readonly connection: {
    readonly stream: Socket;
    on(event: 'sslconnect', listener: () => void): void;
  };
}

/**
 * A client whose connection ends where its server says what makes no sense: the driver reads it while data arrive, and what
 * it throws there nobody could catch.
 */
export class CheckedClient extends Client {
  constructor(config: ClientConfig = {}) {
    // The pool hides the password from whoever copies.
    super({ ...config, password: config.password, stream: () => new CheckedSocket() } as ClientConfig);
    const { connection } = this as unknown as Driver;
    connection.on('sslconnect', () => {
      const { stream } = connection;
      const emit = stream.emit.bind(stream);
      stream.emit = (event: string | symbol, ...args: unknown[]) =>
        event === 'data' ? emitChecked(stream, () => emit(event, ...args)) : emit(event, ...args);
    });
  }
}

function emitChecked(socket: Socket, emit: () => boolean): boolean {
  try {
    return emit();
  } catch (error) {
    socket.destroy(new Error(`a wrong answer: ${(error as Error).message}`));
    return true;
  }
}
