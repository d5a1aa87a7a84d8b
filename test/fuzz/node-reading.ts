import { type ClientRequest, createServer, type IncomingMessage, request } from 'node:http';
import { Duplex } from 'node:stream';
import type { FuzzCase } from './fuzz-case.ts';
import { comparableFields, emptyReading, escaped, type Reading, type ReadMessage } from './reading.ts';

/** `bytesParsed`: where llhttp stopped. */
type ParserError = Error & { readonly code?: string; readonly bytesParsed?: number };

/** A connection that ignores what is written to it; bytes are received by `emit`. */
class SwallowingDuplex extends Duplex {
  readonly reading: Reading = emptyReading();
  /** The bytes, as latin1. */
  readonly text: string;
  constructor(text: string) {
    super();
    this.text = text;
  }
  override _read(): void {}
  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done();
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

function startReading(reading: Reading, start: string, message: IncomingMessage): void {
  const read: ReadMessage = {
    start,
    fields: comparableFields(message.rawHeaders),
    body: '',
    isWhole: false,
  };
  reading.messages.push(read);
  message.setEncoding('latin1');
  message.on('data', (text: string) => {
    read.body += text;
  });
  message.on('error', () => {});
  message.on('close', () => {
    read.isWhole = message.complete;
  });
  message.on('end', () => {
    read.isWhole = message.complete;
  });
}

const server = createServer({
  insecureHTTPParser: false,
  // Judged by us above the parser, and there by more than its presence.
  requireHostHeader: false,
  maxHeaderSize: 64 * 1024,
});
server.maxHeadersCount = 0;
const onRequest = (message: IncomingMessage) => {
  const { method, url, httpVersion, headers } = message;
  const { reading } = message.socket as unknown as SwallowingDuplex;
  startReading(reading, `${method} ${url} ${httpVersion}`, message);
  // llhttp stops there, even if the upgrade is declined.
  if (headers.upgrade !== undefined && /upgrade/i.test(headers.connection ?? '')) reading.isOver = true;
};
server.on('request', onRequest).on('checkContinue', onRequest).on('checkExpectation', onRequest);
server.on('connect', (message: IncomingMessage, socket: Duplex) => {
  onRequest(message);
  (socket as SwallowingDuplex).reading.isOver = true;
});
server.on('clientError', (error: ParserError, socket: Duplex) => {
  const { reading, text } = socket as SwallowingDuplex;
  reading.refusal ??= refusalOf(error, text);
});

/** llhttp's error code and where it stopped: the same code has several causes. */
function refusalOf({ code, message, bytesParsed }: ParserError, text: string): string {
  const reason = code ?? message;
  return bytesParsed === undefined
    ? reason
    : `${reason} after ${escaped(text.slice(0, bytesParsed).slice(-80))}`;
}

/** What Node's own parser, llhttp, makes of each of them. */
export async function nodeReadings(cases: readonly FuzzCase[]): Promise<Reading[]> {
  const opened: (SwallowingDuplex | ClientRequest)[] = [];
  const readings = cases.map((fuzzed) => {
    const socket = new SwallowingDuplex(fuzzed.text);
    socket.on('error', () => {});
    opened.push(socket);
    if (fuzzed.kind === 'request') {
      server.emit('connection', socket);
      socket.emit('data', Buffer.from(fuzzed.text, 'latin1'));
    } else opened.push(askOver(socket, fuzzed));
    return socket.reading;
  });
  // Bodies arrive in later turns than their bytes.
  for (let count = 0; count < 4; count++) await turn();
  // Taken before the connections end: that is news to a parser.
  const settled = readings.map((reading) => structuredClone(reading));
  for (const each of opened) each.destroy();
  await turn();
  return settled;
}

function askOver(socket: SwallowingDuplex, { method, text, ends }: FuzzCase): ClientRequest {
  const { reading } = socket;
  const asking = request({ method, createConnection: () => socket, maxHeaderSize: 64 * 1024 });
  asking.maxHeadersCount = 0;
  asking.on('socket', () => {
    socket.emit('data', Buffer.from(text, 'latin1'));
    if (ends) socket.emit('end');
  });
  asking.on('response', (message) => startReading(reading, String(message.statusCode), message));
  asking.on('upgrade', () => {
    reading.isOver = true;
  });
  asking.on('error', (error: ParserError) => {
    reading.refusal ??= refusalOf(error, text);
  });
  asking.end();
  return asking;
}
