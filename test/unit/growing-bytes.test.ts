import t from 'tap';
import { GrowingBytes, withoutSurroundings } from '../../src/http1/message/growing-bytes.ts';

t.test('bytes that arrive one by one are moved to a larger buffer only a few times', async (t) => {
  const growing = new GrowingBytes();
  const memories = new Set<ArrayBufferLike>();
  const text = 'abcdefghij'.repeat(6_554);
  let kept: Buffer = Buffer.from(text[0]!);
  for (let i = 1; i < text.length; i++) {
    kept = growing.join(kept, Buffer.from(text[i]!));
    memories.add(kept.buffer);
  }
  t.equal(kept.toString(), text);
  t.ok(memories.size <= 9, `${memories.size} times`);
});

t.test('the rest of joined bytes is passed on, other bytes are copied', async (t) => {
  const growing = new GrowingBytes();
  const joined = growing.join(Buffer.from('one '), Buffer.from('two '));
  t.equal(growing.join(joined.subarray(4), Buffer.from('three')).toString(), 'two three');
  t.equal(joined.toString(), 'one two ', 'nothing that was given is written over');
  t.equal(growing.join(joined.subarray(0, 4), Buffer.from('four')).toString(), 'one four');
  t.equal(growing.join(Buffer.from('five '), Buffer.from('six')).toString(), 'five six');
  growing.clear();
  t.equal(growing.join(Buffer.from('seven '), Buffer.from('eight')).toString(), 'seven eight');
});

t.test('a small part of a large read is copied', async (t) => {
  const read = Buffer.allocUnsafeSlow(65_536).fill('x');
  t.equal(withoutSurroundings(read.subarray(65_530)).buffer.byteLength, 6);
  t.equal(withoutSurroundings(read.subarray(30_000)).buffer, read.buffer);
});
