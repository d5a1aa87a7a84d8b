import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';

/** A unary gRPC method over HTTP/2. */
interface UnaryMethod {
  /** `/package.Service/Method`. */
  readonly path: string;
  readonly maxMessageBytes: number;
  /** True if a call's message is to be read; otherwise `onCall` gets null at once. */
  readonly reads: () => boolean;
  /** Called for each call; responds once. `message`: null unless exactly one arrived, whole, uncompressed and not too long. */
  readonly onCall: (message: Buffer | null, respond: (message: Uint8Array) => void) => void;
}

/** Size of a message's prefix: a flag for compression, and four bytes of length. */
const prefixBytes = 5;
const contentType = 'application/grpc';
const contentTypes = /^application\/grpc(?:$|[+;])/;
const trailers = { 'grpc-status': '0' };
/** The whole response to an unknown method. */
const unimplemented = { ':status': 200, 'content-type': contentType, 'grpc-status': '12' };
const responseHeaders = {
  ':status': 200,
  'content-type': contentType,
  'grpc-accept-encoding': 'identity',
};

/** Serves one method on a connection; a call of any other ends with status 12, `UNIMPLEMENTED`. */
export function serveUnary(session: ServerHttp2Session, method: UnaryMethod): void {
  session.on('stream', (stream, headers) => {
    // A client that has reset the stream, or has disconnected, waits for no response.
    stream.on('error', () => {});
    const refusal = refusalOf(headers, method);
    if (refusal !== null) {
      if (isOpen(stream)) stream.respond(refusal, { endStream: true });
    } else if (method.reads()) receiveCall(stream, method);
    else method.onCall(null, (message) => respond(stream, message));
  });
}

function refusalOf(headers: IncomingHttpHeaders, { path }: UnaryMethod) {
  if (headers[':method'] !== 'POST') return { ':status': 405, allow: 'POST' };
  if (!contentTypes.test(headers['content-type'] ?? '')) return { ':status': 415 };
  return headers[':path'] === path ? null : unimplemented;
}

function receiveCall(stream: ServerHttp2Stream, { maxMessageBytes, onCall }: UnaryMethod): void {
  const chunks: Buffer[] = [];
  let length = 0;
  stream.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length <= prefixBytes + maxMessageBytes) chunks.push(chunk);
  });
  stream.on('end', () => {
    const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    const isWhole =
      bytes.length === length &&
      length >= prefixBytes &&
      bytes[0] === 0 &&
      bytes.readUInt32BE(1) === length - prefixBytes;
    onCall(isWhole ? bytes.subarray(prefixBytes) : null, (message) => respond(stream, message));
  });
}

function respond(stream: ServerHttp2Stream, message: Uint8Array): void {
  if (!isOpen(stream)) return;
  const bytes = Buffer.allocUnsafe(prefixBytes + message.length);
  bytes[0] = 0;
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, prefixBytes);
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  stream.respond(responseHeaders, { waitForTrailers: true });
  stream.end(bytes);
}

function isOpen(stream: ServerHttp2Stream): boolean {
  return !stream.closed && !stream.destroyed;
}
