import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { holdWrites } from '../../src/http1/held-writes.ts';

function createSocket(): { socket: Socket; sent: string[] } {
  const sent: string[] = [];
  const duplex = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      sent.push(chunk.toString('latin1'));
      done();
    },
  });
  return { socket: duplex as Socket, sent };
}

t.test('held writes are sent when the turn ends, in order', async (t) => {
  const one = createSocket();
  const two = createSocket();
  holdWrites(one.socket);
  one.socket.write('a');
  holdWrites(two.socket);
  two.socket.write('b');
  // A second response of a client that pipelines.
  holdWrites(one.socket);
  one.socket.write('c');
  await Promise.resolve();
  t.same([...one.sent, ...two.sent], []);
  await nextTurn();
  t.same(one.sent, ['a', 'c']);
  t.same(two.sent, ['b']);
  one.socket.write('d');
  t.same(one.sent, ['a', 'c', 'd'], 'and from then on at once');
});

t.test('the end of the socket sends what is held', async (t) => {
  const { socket, sent } = createSocket();
  holdWrites(socket);
  socket.write('a');
  socket.end('b');
  t.same(sent, ['a', 'b']);
  await nextTurn();
  t.same(sent, ['a', 'b']);
});

t.test('a socket destroyed in the meantime does not affect the others', async (t) => {
  const gone = createSocket();
  const kept = createSocket();
  for (const { socket } of [gone, kept]) {
    holdWrites(socket);
    socket.write('a');
  }
  gone.socket.destroy();
  await nextTurn();
  t.same(gone.sent, []);
  t.same(kept.sent, ['a']);
});
