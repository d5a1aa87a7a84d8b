import { Socket } from 'node:net';
import { Client, type ClientConfig } from 'pg';

/** A socket that ends with the error when a listener for its data throws one. */
class CheckedSocket extends Socket {
  override emit(event: string | symbol, ...args: unknown[]): boolean {
    return event === 'data'
      ? emitChecked(this, () => super.emit(event, ...args))
      : super.emit(event, ...args);
  }
}

/** Internals of the driver: its connection, which continues with TLS on a socket of its own. */
interface Driver {
  readonly connection: {
    readonly stream: Socket;
    on(event: 'sslconnect', listener: () => void): void;
  };
}

/**
 * A client whose connection ends at an unexpected reply: the driver parses replies in a data listener, where an error
 * that it throws could not be caught.
 */
export class CheckedClient extends Client {
  constructor(config: ClientConfig = {}) {
    // The pool makes the password non-enumerable, so a copy loses it.
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
    socket.destroy(new Error(`unexpected reply: ${(error as Error).message}`));
    return true;
  }
}
