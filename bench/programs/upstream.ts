import { createServer } from 'node:net';
import { createWitness } from './witness.ts';

// The service behind every peer: no HTTP server of Node's, so that it costs the CPU it shares with the load
// generator as little as possible. It reads bodiless requests, each of which ends with its head.

const port = Number(process.argv[2]);
const body = JSON.stringify({ data: 'x'.repeat(1024 - JSON.stringify({ data: '' }).length) });
const headEnd = '\r\n\r\n';

const witness = createWitness();
let response = makeResponse();
setInterval(() => {
  response = makeResponse();
}, 1000).unref();

createServer({ noDelay: true }, (socket) => {
  let rest = '';
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    const heads = (rest + chunk).split(headEnd);
    rest = heads.pop() ?? '';
    for (const head of heads) socket.write(witness.see(head) ?? response, 'latin1');
  });
  socket.on('error', () => socket.destroy());
}).listen(port, '127.0.0.1', 1024);

function makeResponse(): Buffer {
  const head = [
    'HTTP/1.1 200 OK',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    `Date: ${new Date().toUTCString()}`,
  ];
  return Buffer.from(head.join('\r\n') + headEnd + body);
}
