import { connect, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';

/** A response as received. */
export interface RawResponse {
  readonly status: number;
  /** Names and values in turn, as received. */
  readonly rawHeaders: readonly string[];
  /** All values of a header, by its name in lower case. */
  values(name: string): string[];
  readonly body: Buffer;
  /** The body as text. */
  readonly text: string;
  /** The body parsed as JSON; undefined if it isn't JSON. */
  readonly json: any;
  /** Whether the body is as long as its framing announces. */
  readonly isWhole: boolean;
}

/** A client connection that sends bytes as they are. */
export interface RawConnection {
  write(bytes: string | Buffer): void;
  /** Says that nothing more will be sent. */
  end(): void;
  /** Resets the connection. */
  reset(): void;
  /**
   * The next response, interim ones included; `toHead`: it has no body, whatever it announces. Rejects when the connection
   * closes before a head.
   */
  response(options?: { readonly toHead?: boolean }): Promise<RawResponse>;
  /** Resolves once the received bytes contain the text. */
  received(text: string): Promise<void>;
  /** Stops and starts reading. */
  pause(): void;
  resume(): void;
  /** How the other side closed the connection. */
  readonly closed: Promise<'ended' | 'reset'>;
}

/** Bytes are latin1 text, so that a test can write any byte. */
const bytesOf = (bytes: string | Buffer) =>
  typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;

/**
 * Connects to a port of 127.0.0.1; `tls`: with TLS; `allowHalfOpen`: our side stays open when the server ends its own;
 * `from`: our address.
 */
export function connectRaw(
  port: number,
  tls?: ConnectionOptions,
  allowHalfOpen = false,
  from = '127.0.0.1',
): Promise<RawConnection> {
  return new Promise((resolve, reject) => {
    const socket =
      tls === undefined
        ? connect({ port, host: '127.0.0.1', allowHalfOpen, localAddress: from })
        : connectTls({ port, host: '127.0.0.1', ...tls });
    socket.once('error', reject);
    socket.once(tls === undefined ? 'connect' : 'secureConnect', () => {
      socket.off('error', reject);
      resolve(createConnection(socket));
    });
  });
}

/** Sends the bytes and reads until the other side closes; every response, in order, and how it closed. */
export async function exchangeRaw(
  port: number,
  bytes: string | Buffer,
): Promise<{ readonly responses: readonly RawResponse[]; readonly closed: 'ended' | 'reset' }> {
  const connection = await connectRaw(port);
  connection.write(bytes);
  const closed = await connection.closed;
  const responses: RawResponse[] = [];
  for (;;) {
    const response = await connection.response().catch(() => undefined);
    if (response === undefined) return { responses, closed };
    responses.push(response);
  }
}

function createConnection(socket: Socket): RawConnection {
  let pending: Buffer = Buffer.alloc(0);
  let isClosed = false;
  let wake = () => {};
  let wasReset = false;
  socket.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk]);
    wake();
  });
  socket.on('error', () => {
    wasReset = true;
  });
  const closed = new Promise<'ended' | 'reset'>((resolve) => {
    socket.on('close', () => {
      isClosed = true;
      wake();
      resolve(wasReset ? 'reset' : 'ended');
    });
  });
  const more = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });

  return {
    write: (bytes) => void socket.write(bytesOf(bytes)),
    end: () => void socket.end(),
    reset: () => void socket.resetAndDestroy(),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    closed,
    async response({ toHead = false } = {}) {
      for (;;) {
        const read = readResponse(pending, toHead, isClosed);
        if (read !== undefined) {
          pending = pending.subarray(read.length);
          return read.response;
        }
        if (isClosed) throw new Error('the connection closed before an answer');
        await more();
      }
    },
    async received(text) {
      while (!pending.includes(text, 0, 'latin1')) {
        if (isClosed) throw new Error('the connection closed before that came');
        await more();
      }
    },
  };
}

function readResponse(
  bytes: Buffer,
  toHead: boolean,
  isClosed: boolean,
): { readonly response: RawResponse; readonly length: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  const rawHeaders = lines.flatMap((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  const values = (name: string) =>
    rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]!.toLowerCase() === name);
  const body = readBody(bytes, headEnd + 4, {
    isEmpty: toHead || status < 200 || status === 204 || status === 304,
    isChunked: values('transfer-encoding').includes('chunked'),
    length: values('content-length')[0],
  });
  if (!body.isWhole && !isClosed) return undefined;
  const text = body.bytes.toString();
  const response = {
    status,
    rawHeaders,
    values,
    body: body.bytes,
    text,
    json: parse(text),
    isWhole: body.isWhole,
  };
  return { response, length: body.end };
}

interface ReadBody {
  readonly bytes: Buffer;
  readonly end: number;
  readonly isWhole: boolean;
}

function readBody(
  all: Buffer,
  start: number,
  framing: { readonly isEmpty: boolean; readonly isChunked: boolean; readonly length: string | undefined },
): ReadBody {
  if (framing.isEmpty) return { bytes: Buffer.alloc(0), end: start, isWhole: true };
  if (framing.isChunked) return readChunks(all, start);
  const end = framing.length === undefined ? all.length + 1 : start + Number(framing.length);
  return {
    bytes: all.subarray(start, end),
    end: Math.min(end, all.length),
    isWhole: all.length >= end,
  };
}

function readChunks(all: Buffer, start: number): ReadBody {
  const chunks: Buffer[] = [];
  const cut = () => ({ bytes: Buffer.concat(chunks), end: all.length, isWhole: false });
  let at = start;
  for (;;) {
    const lineEnd = all.indexOf('\r\n', at);
    if (lineEnd < 0) return cut();
    const size = Number.parseInt(all.toString('latin1', at, lineEnd), 16);
    if (size === 0) {
      // Trailers, if any, and the empty line.
      const end = all.indexOf('\r\n\r\n', lineEnd);
      return end < 0 ? cut() : { bytes: Buffer.concat(chunks), end: end + 4, isWhole: true };
    }
    chunks.push(all.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
    if (at > all.length) return cut();
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
