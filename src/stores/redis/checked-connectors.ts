import { connect as connectPlain, type LookupFunction, type NetConnectOpts, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { AbstractConnector, type Redis, SentinelConnector } from 'ioredis';
import { createReplyCheck } from './reply-check.ts';

type Stream = Awaited<ReturnType<AbstractConnector['connect']>>;

interface ServerLocation {
  readonly disconnectTimeout: number;
  readonly tls?: ConnectionOptions;
  readonly path?: string | null;
  readonly host?: string;
  readonly port: number;
  readonly family?: number | null;
  readonly lookup?: LookupFunction;
}

/** Connects to one server, and checks its replies. */
export class CheckedConnector extends AbstractConnector {
  readonly #location: ServerLocation;

  constructor(options: unknown) {
    const location = options as ServerLocation;
    super(location.disconnectTimeout);
    this.#location = location;
  }

  async connect(): Promise<Stream> {
    this.connecting = true;
    // The driver finishes its setup in this turn of the event loop.
    await Promise.resolve();
    if (!this.connecting) throw new Error('the connection is closed');
    const { tls } = this.#location;
    const target = targetOf(this.#location);
    const socket =
      tls === undefined ? connectPlain(target) : connectTls({ ...target, ...tls } as ConnectionOptions);
    this.stream = checked(socket);
    this.stream.once('error', (error) => {
      this.firstError = error;
    });
    return this.stream;
  }
}

/** The members of the driver's Sentinel connector that its types hide. */
interface SentinelSteps {
  stream: Stream;
  readonly options: { readonly lookup?: LookupFunction };
  connect(onError: (type: string, error: Error) => void): Promise<Stream>;
  connectToSentinel(endpoint: object, options?: object): Redis;
  /** Resolves to the options for a connection to the master; null: the Sentinel doesn't know it. */
  resolve(endpoint: object): Promise<object | null>;
}

const Sentinels = SentinelConnector as unknown as new (options: unknown) => SentinelSteps;

class CheckedSentinels extends Sentinels {
  override async connect(onError: (type: string, error: Error) => void): Promise<Stream> {
    this.stream = checked(await super.connect(onError));
    return this.stream;
  }

  override connectToSentinel(endpoint: object, options?: object): Redis {
    const { lookup } = this.options;
    return super.connectToSentinel(endpoint, {
      ...options,
      ...(lookup && { lookup }),
      Connector: CheckedConnector,
    });
  }

  override async resolve(endpoint: object): Promise<object | null> {
    const { lookup } = this.options;
    const found = await super.resolve(endpoint);
    return found === null || lookup === undefined ? found : { ...found, lookup };
  }
}

/** Connects to the server that Sentinels name, and checks its replies and those of the Sentinels. */
export const CheckedSentinelConnector = CheckedSentinels as unknown as typeof CheckedConnector;

function targetOf({ path, host, port, family, lookup }: ServerLocation): NetConnectOpts {
  return typeof path === 'string' ? { path } : { host, port, family: family ?? undefined, lookup };
}

function checked(socket: Socket): Stream {
  return new CheckedStream(socket) as unknown as Stream;
}

/** A socket to Redis that ends with an error instead of passing the driver a reply that the driver can't process. */
class CheckedStream extends Duplex {
  readonly #socket: Socket;
  readonly #check = createReplyCheck();

  constructor(socket: Socket) {
    super({ allowHalfOpen: false });
    this.#socket = socket;
    for (const event of ['connect', 'secureConnect', 'timeout']) socket.on(event, () => this.emit(event));
    socket.on('data', (bytes: Buffer) => this.#receive(bytes));
    socket.on('end', () => this.push(null));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
  }

  get connecting(): boolean {
    return this.#socket.connecting;
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress;
  }

  get remotePort(): number | undefined {
    return this.#socket.remotePort;
  }

  setNoDelay(isOn?: boolean): this {
    this.#socket.setNoDelay(isOn);
    return this;
  }

  setKeepAlive(isOn?: boolean, initialDelayMs?: number): this {
    this.#socket.setKeepAlive(isOn, initialDelayMs);
    return this;
  }

  setTimeout(milliseconds: number, onTimeout?: () => void): this {
    this.#socket.setTimeout(milliseconds);
    if (onTimeout !== undefined) this.once('timeout', onTimeout);
    return this;
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#check.sent(bytes);
    this.#socket.write(bytes, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(() => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #receive(bytes: Buffer): void {
    if (this.destroyed) return;
    try {
      const checked = this.#check.received(bytes);
      if (checked.length > 0 && !this.push(checked)) this.#socket.pause();
    } catch (error) {
      this.destroy(error as Error);
    }
  }
}
