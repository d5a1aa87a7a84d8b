import { connect, type Socket } from 'node:net';

/** A response, read whole. */
export interface Exchanged {
  /** 0: there was none, for the reason in `body`. */
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** The gateway closes an idle connection later than that, so none is closed as a request is sent on it. */
const mostIdleMs = 20_000;

/** Connections to the gateway that are kept open: as cheap as they can be, so that the load costs less than the gateway. */
export class Connections {
  readonly #port: number;
  readonly #idle: KeptConnection[] = [];
  /** How many requests are on their way. */
  busy = 0;

  constructor(port: number) {
    this.#port = port;
  }

  async exchange(bytes: string | Buffer): Promise<Exchanged> {
    this.busy++;
    const connection = this.#takeIdle() ?? new KeptConnection(this.#port);
    const exchanged = await connection.exchange(bytes);
    if (connection.isUsable) {
      connection.idleSinceMs = performance.now();
      this.#idle.push(connection);
    }
    this.busy--;
    return exchanged;
  }

  /** The connection used last; the others grow old after a burst, and are then closed. */
  #takeIdle(): KeptConnection | undefined {
    const connection = this.#idle.pop();
    if (connection === undefined) return undefined;
    if (connection.isUsable && performance.now() - connection.idleSinceMs < mostIdleMs) return connection;
    connection.close();
    for (const older of this.#idle.splice(0)) older.close();
    return undefined;
  }
}

class KeptConnection {
  readonly #socket: Socket;
  #received = '';
  #resolve: ((exchanged: Exchanged) => void) | null = null;
  isUsable = true;
  idleSinceMs = 0;

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1').setNoDelay(true);
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (text: string) => this.#read(text));
    this.#socket.on('error', (error: NodeJS.ErrnoException) => this.#end(error.code ?? error.message));
    this.#socket.on('close', () => this.#end('closed'));
  }

  exchange(bytes: string | Buffer): Promise<Exchanged> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#socket.write(bytes);
    });
  }

  close(): void {
    this.#end('closed');
  }

  #read(text: string): void {
    this.#received += text;
    const headEnd = this.#received.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const head = this.#received.slice(0, headEnd + 2);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (this.#received.length < headEnd + 4 + length) return;
    if (/\r\nconnection: close/i.test(head)) this.isUsable = false;
    const body = this.#received.slice(headEnd + 4);
    this.#received = '';
    this.#settle({ status: Number(head.slice(9, 12)), head, body });
  }

  #end(why: string): void {
    this.isUsable = false;
    this.#settle({ status: 0, head: '', body: why });
    this.#socket.destroy();
  }

  #settle(exchanged: Exchanged): void {
    const resolve = this.#resolve;
    this.#resolve = null;
    resolve?.(exchanged);
  }
}

/** The bytes of a request. */
export function bytesOf(requestLine: string, lines: readonly string[] = [], body = ''): string {
  const framing = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  return [`${requestLine} HTTP/1.1`, 'Host: gateway.example', ...lines, ...framing, '', body].join('\r\n');
}
