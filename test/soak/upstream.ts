import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { stdout } from 'node:process';

// The service behind the gateway of the soak: `node test/soak/upstream.ts` prints its port.

/** What an event stream sends before it ends, and how often. */
const events = 12;
const everyMs = 250;

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  if (request.url!.startsWith('/api/store/events')) return sendEvents(response);
  countBody(request, response);
});

function countBody(request: IncomingMessage, response: ServerResponse): void {
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  request.on('error', () => {});
  request.on('end', () => {
    const body = JSON.stringify({ bytes });
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  });
}

function sendEvents(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let sent = 0;
  const timer = setInterval(() => {
    response.write(`data: ${++sent}\n\n`);
    if (sent === events) response.end();
  }, everyMs);
  response.on('close', () => clearInterval(timer));
}

// A WebSocket that answers each frame with a short text, and a close frame with its own.
server.on('upgrade', (request, socket) => {
  const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
  const accept = createHash('sha1').update(key).digest('base64');
  socket.on('error', () => {});
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  socket.on('data', (frame: Buffer) => {
    if (frame[0] === 0x88) socket.end(Buffer.from([0x88, 0]));
    else socket.write(Buffer.from([0x81, 2, 0x6f, 0x6b]));
  });
  socket.on('end', () => socket.end());
});

server.listen(0, '127.0.0.1', () => stdout.write(`${(server.address() as AddressInfo).port}\n`));
