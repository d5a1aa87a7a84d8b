import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { TestScope } from '../gateway/gateway.ts';

/** A connection on which one request follows the other. */
export interface AskingClient {
  readonly socket: Socket;
  responses(): number;
  isBroken(): boolean;
}

// Of Postern's own: the sockets of a worker are those of its clients.
const request = 'GET /.well-known/jwks.json HTTP/1.1\r\nHost: acme.example.com\r\n\r\n';

/** Opens so many of them; they end with the test. */
export async function openAskingClients(t: TestScope, port: number, count: number): Promise<AskingClient[]> {
  const clients = await Promise.all(Array.from({ length: count }, () => openClient(port)));
  t.teardown(() => {
    for (const { socket } of clients) socket.destroy();
  });
  return clients;
}

async function openClient(port: number): Promise<AskingClient> {
  const socket = connect(port, '127.0.0.1');
  let responses = 0;
  let isBroken = false;
  socket.on('error', () => {});
  socket.once('close', () => {
    isBroken = true;
  });
  socket.on('data', (chunk: Buffer) => {
    if (!chunk.toString('latin1').startsWith('HTTP/1.1 200')) return;
    responses += 1;
    socket.write(request);
  });
  await once(socket, 'connect');
  socket.write(request);
  return { socket, responses: () => responses, isBroken: () => isBroken };
}
