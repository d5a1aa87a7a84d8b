import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import type { BodyLoad } from '../bodies.ts';
import { sendBody } from './send-body.ts';

// Sends or gets so many bodies over kept connections and prints how long it took; anything unexpected ends it with 1.

const load = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as BodyLoad;
const { port, direction, bodies, bodyBytes, parallel, header, value } = load;
const headEnd = '\r\n\r\n';
const head =
  direction === 'download'
    ? `GET /api/store/body HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${header}: ${value}${headEnd}`
    : `PUT /api/store/body HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${header}: ${value}\r\nContent-Length: ${bodyBytes}${headEnd}`;
const expected = direction === 'download' ? bodyBytes : 0;

let started = 0;
const start = performance.now();
await Promise.all(Array.from({ length: parallel }, work));
process.stdout.write(JSON.stringify({ seconds: (performance.now() - start) / 1000 }));

async function work(): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  while (started < bodies) {
    started += 1;
    await transfer(socket);
  }
  socket.destroy();
}

function transfer(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    let text: string | null = '';
    let owed = expected;
    const onData = (chunk: Buffer) => {
      if (text !== null) {
        text += chunk.toString('latin1');
        const end = text.indexOf(headEnd);
        if (end < 0) return;
        if (!/^HTTP\/1\.1 20[04] /.test(text)) reject(new Error(text.slice(0, 200)));
        owed -= text.length - end - headEnd.length;
        text = null;
      } else owed -= chunk.length;
      if (owed > 0) return;
      socket.off('data', onData);
      resolve();
    };
    socket.on('data', onData);
    socket.once('error', reject);
    socket.write(head);
    if (direction === 'upload') sendBody(socket, bodyBytes);
  });
}
