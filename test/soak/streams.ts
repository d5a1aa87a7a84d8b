import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { bytesOf } from './connections.ts';

/** A masked text frame of two bytes. */
const frame = Buffer.from([0x81, 0x82, 1, 2, 3, 4, 1 ^ 0x68, 2 ^ 0x69]);
const closeFrame = Buffer.from([0x88, 0x80, 0, 0, 0, 0]);

/** Opens a connection for one request; gives everything received, once it is closed or `until` says so. */
function open(port: number, bytes: string, until: (received: string) => boolean) {
  const socket = connect(port, '127.0.0.1');
  socket.setEncoding('latin1');
  let received = '';
  const ended = new Promise<string>((resolve) => {
    socket.on('data', (text: string) => {
      received += text;
      if (until(received)) socket.end();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(`${error.code}: ${received}`));
    socket.on('close', () => resolve(received));
  });
  socket.write(bytes);
  return { socket, ended };
}

/** Reads an event stream to its end; gives what came of it. */
export async function readEvents(port: number, credential: string): Promise<string> {
  const bytes = bytesOf('GET /api/store/events', [credential]);
  const { ended } = open(port, bytes, (text) => text.endsWith('0\r\n\r\n'));
  const received = await ended;
  const isWhole = received.includes('data: 12\n') && received.endsWith('0\r\n\r\n');
  return isWhole ? received.slice(9, 12) : `cut after ${received.length} bytes: ${received.slice(0, 12)}`;
}

/** Holds a WebSocket for some seconds with a message each; gives what came of it. */
export async function holdWebSocket(port: number, credential: string, seconds = 4): Promise<string> {
  const lines = [
    ...[credential, 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ];
  const { socket, ended } = open(port, bytesOf('GET /api/store/socket', lines), () => false);
  let echoed = 0;
  socket.on('data', (text: unknown) => {
    echoed += String(text).split('ok').length - 1;
  });
  for (let second = 0; second < seconds; second++) {
    await sleep(1_000);
    if (!socket.destroyed) socket.write(frame);
  }
  await sleep(200);
  if (!socket.destroyed) {
    socket.write(closeFrame);
    socket.end();
  }
  const received = await ended;
  return echoed === seconds ? received.slice(9, 12) : `${echoed} messages after ${received.slice(0, 12)}`;
}

/** Gives up a request while its body, or its response, is still on its way. */
export async function abandon(port: number, credential: string, isUpload: boolean): Promise<string> {
  const head = isUpload
    ? bytesOf('POST /api/store/upload', [credential, 'Content-Length: 100000']) + 'x'.repeat(40_000)
    : bytesOf('GET /api/store/events', [credential]);
  const { socket, ended } = open(port, head, () => false);
  await sleep(isUpload ? 40 : 400);
  socket.destroy();
  await ended;
  return 'abandoned';
}
