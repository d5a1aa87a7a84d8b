import { once } from 'node:events';
import { connect } from 'node:net';

const frame = { headers: 1, reset: 3, settings: 4, goAway: 7 };
const endOfStreamAndHeaders = 0x5;
const headBytes = 9;

/**
 * Sends GET with any bytes as the path (latin1), over HTTP/2 with prior knowledge (RFC 9113 §3.3) to a port of 127.0.0.1;
 * resolves when it has been answered or refused. Clients would encode them. `more`: further fields, or others in their place;
 * `authority` empty: there is none.
 */
export async function requestByHttp2(
  port: number,
  path: string,
  authority = 'app.example',
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  const named = authority === '' ? {} : { ':authority': authority };
  const fields = { ':method': 'GET', ':scheme': 'http', ...named, ':path': path, ...more };
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  socket.write(frameOf(frame.settings, 0, 0, Buffer.alloc(0)));
  const block = Buffer.concat(Object.entries(fields).map(([name, value]) => literal(name, value)));
  socket.write(frameOf(frame.headers, endOfStreamAndHeaders, 1, block));
  let received: Buffer = Buffer.alloc(0);
  socket.on('data', (bytes) => {
    received = Buffer.concat([received, bytes]);
    if (hasAnswer(received)) socket.destroy();
  });
  socket.on('error', () => {});
  await once(socket, 'close');
}

function frameOf(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A field without indexing and Huffman code; both texts are shorter than 127 bytes (RFC 7541 §6.2.2). */
function literal(name: string, value: string): Buffer {
  const text = (bytes: string) => [Buffer.from([bytes.length]), Buffer.from(bytes, 'latin1')];
  return Buffer.concat([Buffer.from([0]), ...text(name), ...text(value)]);
}

function hasAnswer(bytes: Buffer): boolean {
  for (let at = 0; at + headBytes <= bytes.length; at += headBytes + bytes.readUIntBE(at, 3)) {
    const type = bytes[at + 3];
    if (type === frame.headers || type === frame.reset || type === frame.goAway) return true;
  }
  return false;
}
