import { type LookupFunction, Socket } from 'node:net';
import { Client, type ClientConfig } from 'pg';

/** Configuration of pg, with a function that resolves the server's name. */
export interface CheckedClientConfig extends ClientConfig {
  /** Default: getaddrinfo(3). */
  readonly lookup?: LookupFunction | undefined;
}

/** A socket that ends with an error when a listener for its data throws. */
class CheckedSocket extends Socket {
  readonly #lookup: LookupFunction | undefined;

  constructor(lookup: LookupFunction | undefined) {
    super();
    this.#lookup = lookup;
  }

  /** Connects with `lookup`, which the driver has no option for. */
  override connect(...where: [port: number, host: string]): this;
  override connect(...where: never): this;
  override connect(port: number, host: string): this {
    return super.connect({ port, host, ...(this.#lookup && { lookup: this.#lookup }) });
  }

  override emit(event: string | symbol, ...args: unknown[]): boolean {
    return event === 'data'
      ? emitChecked(this, () => super.emit(event, ...args))
      : super.emit(event, ...args);
  }
}

/** Internals of the driver: its connection, which for TLS replaces its socket with one that the driver creates. */
interface Driver {
  readonly connection: {
    readonly stream: Socket;
    on(event: 'sslconnect', listener: () => void): void;
  };
}

/**
 * A client whose connection ends at an unexpected reply: the driver parses replies in a data listener, and nothing could
 * catch the error that it throws there.
 */
export class CheckedClient extends Client {
  constructor(config: CheckedClientConfig = {}) {
    // The pool makes the password non-enumerable, so a copy loses it.
    super({
      ...config,
      password: config.password,
      stream: () => new CheckedSocket(config.lookup),
    } as ClientConfig);
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
