import t from 'tap';
import {
  FieldBlock,
  FieldList,
  HeadWriter,
  headText,
  lastChunk,
  responseHeadText,
  UnwritableHead,
} from '../../src/http1/message/head-text.ts';

const allowed = (code: number) => code === 0x09 || (code >= 0x20 && code <= 0x7e) || code >= 0x80;
const every = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code));
const good = every.filter((_, code) => allowed(code));
const bad = [
  ...every.filter((_, code) => !allowed(code)),
  '\r\n',
  '\r\nSet-Cookie: a=b',
  '\r\n\r\n',
  // As latin1 the first is a CR, the second a LF.
  '\u010d',
  '\u010a',
  '\u{1f600}',
];

t.test('a head is its start line, its fields in their order, and a blank line', async (t) => {
  t.equal(headText('GET / HTTP/1.1', ['Host', 'a', 'X', '']), 'GET / HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n');
  const block = new FieldBlock(['D', 'e']);
  t.equal(headText('A', ['B', 'c'], block.lines), 'A\r\nB: c\r\nD: e\r\n\r\n');
  t.equal(responseHeadText(200, []), 'HTTP/1.1 200 OK\r\n\r\n');
  t.equal(responseHeadText(799, []), 'HTTP/1.1 799 \r\n\r\n');
  t.equal(lastChunk([]), '0\r\n\r\n');
  t.equal(lastChunk(['X', 'y']), '0\r\nX: y\r\n\r\n');
});

t.test('HTAB, printable characters and obs-text are allowed everywhere', async (t) => {
  const text = good.join('');
  t.equal(headText(text, [text, text]), `${text}\r\n${text}: ${text}\r\n\r\n`);
});

t.test('no other byte is sent, wherever it is, nor a line end', async (t) => {
  for (const each of bad) {
    for (const text of [each, `a${each}`, `${each}a`, `a${each}a`]) {
      const name = JSON.stringify(text);
      t.throws(() => headText(text, ['A', 'b']), UnwritableHead, `start line ${name}`);
      t.throws(() => headText('A', [text, 'b', 'C', 'd']), UnwritableHead, `name ${name}`);
      t.throws(() => headText('A', ['B', text, 'C', 'd']), UnwritableHead, `value ${name}`);
      t.throws(() => headText('A', ['B', 'c', 'D', text]), UnwritableHead, `last value ${name}`);
      t.throws(() => new FieldBlock(['B', text]).lines, UnwritableHead, `value of a block ${name}`);
      t.throws(() => lastChunk(['B', text]), UnwritableHead, `trailer ${name}`);
    }
  }
});

t.test('a head of very many lines is held to the same', async (t) => {
  const many = Array<string>(1_000).fill('a');
  t.equal(headText('A', many), `A\r\n${'a: a\r\n'.repeat(500)}\r\n`);
  t.throws(() => headText('A', [...many, 'b', '\n']), UnwritableHead);
  t.throws(() => headText('A', ['b', '\r\n', ...many]), UnwritableHead);
});

t.test('a line end in one field and half of one in another are refused', async (t) => {
  t.throws(() => headText('A', ['B', 'c\r', 'D', '\ne']), UnwritableHead);
  t.throws(() => headText('A\r', ['\nB', 'c']), UnwritableHead);
});

t.test('the error names the field and never its value', async (t) => {
  const messageOf = (startLine: string, fields: string[]) => {
    try {
      return headText(startLine, fields);
    } catch (error) {
      return (error as Error).message;
    }
  };
  t.equal(messageOf('A', ['B', 'c', 'Set-Cookie', 'secret\r\n']), 'unwritable head: "Set-Cookie"');
  t.equal(messageOf('A', ['X\r\nY', 'secret']), 'unwritable head: "X\\r\\nY"');
  t.equal(messageOf('secret\n', []), 'unwritable head: start line');
});

t.test('a head written field by field is that of the list', async (t) => {
  const block = new FieldBlock(['C', 'd', 'E', '']);
  const [writer, list] = [new HeadWriter('GET / HTTP/1.1'), new FieldList()];
  for (const sink of [writer, list]) {
    sink.add('A', 'b');
    sink.addBlock(block);
    sink.add('F', 'é');
  }
  t.strictSame(list.fields, ['A', 'b', 'C', 'd', 'E', '', 'F', 'é']);
  t.equal(writer.finish(), headText('GET / HTTP/1.1', list.fields));
});

t.test('nothing unwritable is in a block, and none in what a writer finishes', async (t) => {
  for (const value of ['a\r\nB: c', 'a\nb', '\0', '\u0100']) {
    t.throws(() => new FieldBlock(['A', value]).lines, new UnwritableHead('"A"'));
    const writer = new HeadWriter('GET / HTTP/1.1');
    writer.add('A', value);
    t.equal(writer.finish(), null, JSON.stringify(value));
  }
  const injected = new HeadWriter('GET /\r\nA: b HTTP/1.1');
  t.equal(injected.finish(), null);
});
