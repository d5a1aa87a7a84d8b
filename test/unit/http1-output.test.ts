import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { Output } from '../../src/http1/message/output.ts';

function createOutput(): { output: Output; sent: string[] } {
  const sent: string[] = [];
  const duplex = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      sent.push(chunk.toString('latin1'));
      done();
    },
  });
  return { output: new Output(duplex as Duplex as Socket), sent };
}

t.test('held text is sent in one piece when the turn ends', async (t) => {
  const one = createOutput();
  const two = createOutput();
  one.output.hold('a');
  two.output.hold('b');
  // A second response of a client that pipelines.
  one.output.hold('c');
  await Promise.resolve();
  t.same([...one.sent, ...two.sent], []);
  await nextTurn();
  t.same(one.sent, ['ac']);
  t.same(two.sent, ['b']);
  one.output.hold('d');
  await nextTurn();
  t.same(one.sent, ['ac', 'd'], 'and so in the next turn');
});

t.test('nothing overtakes what is held', async (t) => {
  const { output, sent } = createOutput();
  output.hold('a');
  output.write('b');
  output.hold('c');
  output.writeBytes('d', Buffer.from('e'), 'f');
  output.hold('g');
  output.writeBytes('', Buffer.from('h'), '');
  output.hold('i');
  output.flush();
  output.writeBytes('', Buffer.from('j'), '');
  output.hold('k');
  t.equal(sent.join(''), 'abcdefghij');
  await nextTurn();
  t.equal(sent.join(''), 'abcdefghijk');
});

t.test('much text is not held', async (t) => {
  const { output, sent } = createOutput();
  output.hold('a'.repeat(10_000));
  t.same(sent, []);
  output.hold('b'.repeat(10_000));
  t.equal(sent.join('').length, 20_000);
  await nextTurn();
  t.equal(sent.join('').length, 20_000);
});

t.test('a socket destroyed in the meantime does not affect the others', async (t) => {
  const gone = createOutput();
  const kept = createOutput();
  for (const { output } of [gone, kept]) output.hold('a');
  gone.output.socket.destroy();
  gone.output.socket.on('error', () => {});
  await nextTurn();
  t.same(gone.sent, []);
  t.same(kept.sent, ['a']);
});
