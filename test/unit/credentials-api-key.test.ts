import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { apiKeyDigest, isApiKey, mintApiKey } from '../../src/credentials/api-key.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
// Checksums worked out with Python's zlib.crc32.
const known = 'pst_0123456789abcdefghijABCDEFGHIJ3mpbCX';
const padded = 'pst_00000000000000000000000017025500002N';

function base62(value: number): string {
  let digits = '';
  for (let rest = value; digits.length < 6; rest = Math.floor(rest / 62)) {
    digits = alphabet.charAt(rest % 62) + digits;
  }
  return digits;
}

/** A key of any random part, its checksum right. */
function keyOf(randomPart: string): string {
  return `pst_${randomPart}${base62(crc32(randomPart))}`;
}

/** A key whose checksum, were a hyphen read as the digit -1, could be spelt with one. */
function keyWithHyphen(): string {
  for (let number = 0; ; number++) {
    const key = keyOf(String(number).padStart(30, '0'));
    const before = alphabet.indexOf(key.at(-2) ?? '');
    if (key.endsWith('z') && before < 61) return `${key.slice(0, -2)}${alphabet.charAt(before + 1)}-`;
  }
}

t.test('a minted key is valid', (t) => {
  const { raw, hint, hash } = mintApiKey('pst', randomBytes);
  t.match(raw, /^pst_[0-9A-Za-z]{36}$/);
  t.equal(hint, raw.slice(0, 8));
  t.strictSame(Buffer.from(hash), createHash('sha256').update(raw).digest());
  t.equal(apiKeyDigest(raw), Buffer.from(hash).toString('base64url'));
  t.end();
});

const keys: Record<string, [text: string, expected: boolean]> = {
  'a checksum computed elsewhere': [known, true],
  'a checksum with zeros before it': [padded, true],
  'an earlier prefix': [known.replace('pst', 'old1'), true],
  'a prefix of one character': [known.replace('pst', 'p'), true],
  'a prefix of sixteen': [known.replace('pst', 'p'.repeat(16)), true],
  'a prefix of seventeen': [known.replace('pst', 'p'.repeat(17)), false],
  'no prefix': [known.slice(3), false],
  'neither prefix nor underscore': [known.slice(4), false],
  'a capital in the prefix': [known.replace('pst', 'Pst'), false],
  'an underscore in the prefix': [known.replace('pst', 'p_t'), false],
  'a hyphen in the prefix': [known.replace('pst', 'p-t'), false],
  'a letter beyond ASCII in the prefix': [known.replace('pst', 'pšt'), false],
  'another separator': [known.replace('_', '-'), false],
  'the empty text': ['', false],
  'a space before': [` ${known}`, false],
  'a space behind': [`${known} `, false],
  'a line break behind': [`${known}\n`, false],
  'a character fewer': [known.slice(0, -1), false],
  'a character more': [`${known}0`, false],
  'a checksum without its zeros': [padded.replace('00002N', '2N'), false],
  'a shorter random part': [keyOf('0123456789abcdefghijABCDEFGHI'), false],
  'a longer random part': [keyOf('0123456789abcdefghijABCDEFGHIJK'), false],
  'a wrong checksum': [known.replace('3mpbCX', '3mpbCY'), false],
  'a checksum in another case': [known.replace('3mpbCX', '3MPBcx'), false],
  'a checksum plus 2^32': [known.replace('3mpbCX', base62(0xced364a5 + 2 ** 32)), false],
  'a hyphen in the random part': [keyOf('0123456789-bcdefghijABCDEFGHIJ'), false],
  'a letter beyond ASCII in the random part': [keyOf('0123456789ébcdefghijABCDEFGHIJ'), false],
  'a hyphen in the checksum': [keyWithHyphen(), false],
  'a letter of full width in the checksum': [known.replace('3mpbCX', '３mpbCX'), false],
  'a very long text': [`pst_${'0'.repeat(100_000)}`, false],
};

for (const [name, [text, expected]] of Object.entries(keys)) {
  t.test(`${expected ? 'a key' : 'no key'}: ${name}`, (t) => {
    t.equal(isApiKey(text), expected);
    t.end();
  });
}

t.test('a changed character of the random part or checksum is noticed', (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 4, max: known.length - 1 }), fc.constantFrom(...alphabet), (at, other) => {
      return known[at] === other || !isApiKey(known.slice(0, at) + other + known.slice(at + 1));
    }),
  );
  t.end();
});

t.test('every prefix and every random part yields a valid key', (t) => {
  const prefix = fc.stringMatching(/^[a-z0-9]{1,16}$/);
  fc.assert(fc.property(prefix, (text) => isApiKey(mintApiKey(text, randomBytes).raw)));
  t.end();
});

t.test('bytes that would favour some characters are discarded', (t) => {
  const bytes = [255, 248, 250, 247, 0, 61, 62];
  let asked = 0;
  const random = (count: number) =>
    Uint8Array.from({ length: count }, () => bytes[asked++ % bytes.length] ?? 0);
  const { raw } = mintApiKey('pst', random);
  t.equal(raw.slice(4, 34), 'z0z0'.repeat(8).slice(0, 30));
  t.end();
});
