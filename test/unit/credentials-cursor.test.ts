import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { createCursors } from '../../src/credentials/cursor.ts';
import { createRefreshCookies } from '../../src/credentials/refresh-cookie.ts';
import { Refusal } from '../../src/errors.ts';
import { cookieSecrets } from '../support/administration/signing-keys.ts';

const secret = Buffer.alloc(32, 7);
const cursors = createCursors(secret);
const payload = { value: 'größe "1"', id: '01936f2e', backwards: false };
const good = cursors.write(payload, 'api-keys created desc');

t.test('a cursor reads back under the same binding', (t) => {
  t.match(good, /^[A-Za-z0-9_-]+$/);
  t.strictSame(cursors.read(good, 'api-keys created desc'), payload);
  fc.assert(
    fc.property(fc.json({ maxDepth: 2 }), fc.string(), (json, binding) => {
      const value = JSON.parse(json);
      t.strictSame(
        JSON.stringify(cursors.read(cursors.write(value, binding), binding)),
        JSON.stringify(value),
      );
    }),
    { numRuns: 50 },
  );
  t.end();
});

t.test('nothing of the payload is readable, and equal payloads give equal cursors', async (t) => {
  const long = { value: 'a label that is private', id: '01936f2e' };
  const text = cursors.write(long, 'b');
  t.equal(text, cursors.write(long, 'b'), 'a page keeps its cursor');
  t.notMatch(Buffer.from(text, 'base64url').toString('latin1'), /label|01936f2e|value/);
  const other = cursors.write({ ...long, id: '01936f2f' }, 'b');
  t.not(
    other.slice(43, 60),
    text.slice(43, 60),
    'payloads with a common prefix have nothing in common when encrypted',
  );
});

const spareBits = cursors.write('xx', 'b');
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const refused: Record<string, [text: string, binding: string]> = {
  'another binding': [good, 'api-keys created asc'],
  'a binding that the payload runs on from': [cursors.write('b', 'a'), 'a"b"'],
  'an empty binding': [good, ''],
  'another secret': [createCursors(randomBytes(32)).write(payload, 'b'), 'b'],
  'the empty text': ['', 'b'],
  'only a MAC': [encode(Buffer.alloc(32)), 'b'],
  'a payload without MAC': [encode(Buffer.from(JSON.stringify(payload))), 'b'],
  'a payload under zeros': [encode(Buffer.concat([Buffer.alloc(32), Buffer.from('{}')])), 'b'],
  padding: [`${cursors.write('x', 'b')}=`, 'b'],
  'spare bits set': [spareBits.slice(0, -1) + alphabet[alphabet.indexOf(spareBits.at(-1) ?? '') + 1], 'b'],
  'a space before': [` ${cursors.write('x', 'b')}`, 'b'],
  'a line break behind': [`${cursors.write('x', 'b')}\n`, 'b'],
  'base64 instead of base64url': [differentInBase64(), 'b'],
  'a character fewer': [cursors.write('x', 'b').slice(0, -1), 'b'],
  'what is too long to be one': [cursors.write('x'.repeat(4096), 'b'), 'b'],
  'a refresh cookie': [
    createRefreshCookies({ secrets: cookieSecrets(secret), tenant: 'b', name: 'n' }).write('x', 1),
    'b',
  ],
};

function encode(bytes: Buffer): string {
  return bytes.toString('base64url');
}

/** A cursor that has another spelling in base64. */
function differentInBase64(): string {
  for (let number = 0; ; number++) {
    const text = cursors.write(number, 'b');
    if (/[-_]/.test(text)) return text.replaceAll('-', '+').replaceAll('_', '/');
  }
}

for (const [name, [text, binding]] of Object.entries(refused)) {
  t.test(`refused: ${name}`, (t) => {
    t.throws(() => cursors.read(text, binding), { name: 'Refusal', code: 'invalid_cursor' });
    t.end();
  });
}

t.test('any other text is invalid_cursor', (t) => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.base64String(), fc.string({ unit: 'binary' })), (text) => {
      try {
        cursors.read(text, 'b');
        return false;
      } catch (error) {
        return error instanceof Refusal && error.code === 'invalid_cursor';
      }
    }),
  );
  t.end();
});
