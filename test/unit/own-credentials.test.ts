import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { createOwnCredentials } from '../../src/authenticate/own-credentials.ts';
import { isApiKey, mintApiKey } from '../../src/credentials/api-key.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';

const issuer = 'https://acme.example.com';
const earlier = new Set(['old', 'pst', 'a']);
const own = createOwnCredentials({
  keyPrefix: 'pst',
  issuer,
  prefixes: { has: (prefix) => earlier.has(prefix), catchUp: () => null },
});

const mint = (prefix: string) => mintApiKey(prefix, randomBytes).raw;
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const jwt = (header: unknown, claims: unknown, end = '.c2ln') => `${part(header)}.${part(claims)}${end}`;
const token = jwt({ alg: 'ES256', typ: 'at+jwt' }, { iss: issuer, sub: 'u' });
const oldKey = mint('old');
/** A key with a wrong checksum. */
const spoilt = oldKey.slice(0, -1) + (oldKey.endsWith('0') ? '1' : '0');
const base64 = (text: string) => Buffer.from(text).toString('base64');
const unpadded = (text: string) => base64(text).replace(/=+$/, '');
const url = (text: string) => Buffer.from(text).toString('base64url');

const rows: readonly [sentence: string, value: string, kind: 'key' | 'token' | null][] = [
  ['nothing', '', null],
  ['a scheme alone', 'Bearer', null],
  ['a key', `Bearer ${mint('pst')}`, 'key'],
  ['whatever begins like one', 'pst_', 'key'],
  ['behind any mark', '"x":"pst_1"', 'key'],
  ['not in the middle of a run', 'x.pst_1 my-pst_1 _pst_1 Xpst_1', null],
  ['nor in other letters', 'PST_1', null],
  ['nor with another mark', 'pst-1 pst.1 pst', null],
  ['a key of an earlier prefix', `Token ${oldKey}`, 'key'],
  ['and more', `Token ${oldKey}.x`, 'key'],
  ['not one that is cut off', `Token ${oldKey.slice(0, -1)}`, null],
  ['nor one that is spoilt', `Token ${spoilt}`, null],
  ['nor what only begins like one', 'old_token', null],
  ['nor a key of a prefix that no key had', mint('ghp'), null],
  ['an access token', `Bearer ${token}`, 'token'],
  ['in any spelling of the scheme', `bEARER\t ${token}`, 'token'],
  ['with another type in capitals', jwt({ typ: 'AT+JWT' }, { iss: issuer }), 'token'],
  ['with the type as a media type', jwt({ typ: 'application/at+jwt' }, { iss: issuer }), 'token'],
  ['without a signature', jwt({ typ: 'at+jwt' }, { iss: issuer }, '.'), 'token'],
  ['not one of another issuer', jwt({ typ: 'at+jwt' }, { iss: `${issuer}/` }), null],
  ['nor one of another type', jwt({ typ: 'JWT' }, { iss: issuer }), null],
  ['nor one without a type', jwt({}, { iss: issuer }), null],
  ['nor one of no object', jwt([], { iss: issuer }), null],
  ['nor half of one', jwt({ typ: 'at+jwt' }, { iss: issuer }, ''), null],
  [
    'nor one whose claims end in what JSON has no blank for',
    `${part({ typ: 'at+jwt' })}.${Buffer.from(`{"iss":"${issuer}"}\f`).toString('base64url')}.x`,
    null,
  ],
  ['nor nonsense', 'Bearer e30.e30.e30 e3s.x.y ...', null],
  ['a key counts before a token', `${token} ${oldKey}`, 'key'],
  ['Basic of another', `Basic ${base64('aladdin:open sesame')}`, null],
  ['a key as the password', `Basic ${base64(`x:${oldKey}`)}`, 'key'],
  ['as the user name', `Basic ${base64(`${oldKey}:`)}`, 'key'],
  ['between two colons', `Basic ${base64(`a:${oldKey}:b`)}`, 'key'],
  ['without padding', `basic ${unpadded(`ab:${oldKey}`)}`, 'key'],
  ['in the other alphabet', `BASIC ${url(`\u{fffe}?>~:pst_1`)}`, 'key'],
  ['a token as the password', `Basic ${base64(`x:${token}`)}`, 'token'],
  ['after more blanks', `Basic \t  ${base64('x:pst_1')}`, 'key'],
  ['in a list', `Digest a="b", Basic ${base64('x:pst_1')}, Bearer c`, 'key'],
  ['in quotes', `Basic "${base64('x:pst_1')}"`, 'key'],
];

t.test('a credential of this tenant is found wherever a run or a part of Basic begins with it', async (t) => {
  for (const [sentence, value, kind] of rows) t.equal(own.heldIn(value), kind, sentence);
  t.ok(own.beginsKey(oldKey));
  t.ok(own.beginsKey('pst_ x'));
  for (const text of ['', ` ${oldKey}`, token, spoilt, mint('ghp')]) t.notOk(own.beginsKey(text), text);
});

/** Finds credentials as the contract says, without a thought of time. */
function naively(value: string): 'key' | 'token' | null {
  const basic = [...value.matchAll(/basic[ \t]+/gi)].map(({ index, 0: { length } }) => {
    const encoded = value.slice(index + length).split(/basic[ \t]+/i)[0]!;
    return decoded(encoded);
  });
  const runs = [value, ...basic].flatMap((text) => text.match(/[A-Za-z0-9_.-]+/g) ?? []);
  if (runs.some(beginsKey)) return 'key';
  return runs.some(isToken) ? 'token' : null;
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Base64, bit by bit. */
function decoded(text: string): string {
  const bits = [...text.replaceAll('-', '+').replaceAll('_', '/')]
    .filter((character) => digits.includes(character))
    .map((character) => digits.indexOf(character).toString(2).padStart(6, '0'))
    .join('');
  return (bits.match(/.{8}/g) ?? []).map((byte) => String.fromCharCode(Number.parseInt(byte, 2))).join('');
}

function beginsKey(run: string): boolean {
  if (run.startsWith('pst_')) return true;
  const [key, prefix, random, checksum] =
    /^([a-z0-9]{1,16})_([0-9A-Za-z]{30})([0-9A-Za-z]{6})/.exec(run) ?? [];
  if (key === undefined || !earlier.has(prefix!)) return false;
  const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const claimed = [...checksum!].reduce((sum, digit) => sum * 62 + base62.indexOf(digit), 0);
  return claimed === crc32(random!);
}

function isToken(run: string): boolean {
  const parts = run.split('.');
  if (parts.length < 3) return false;
  try {
    const [header, claims] = parts
      .slice(0, 2)
      .map((text) => JSON.parse(Buffer.from(text, 'base64url').toString()));
    return /^(application\/)?at\+jwt$/i.test(header.typ) && claims.iss === issuer;
  } catch {
    return false;
  }
}

const pieces = fc.oneof(
  fc.constantFrom(...[' ', '\t', ':', ',', '"', '/', '=', '\xe9', '.', '_', '-', 'x', '0']),
  fc.constantFrom('Bearer ', 'Basic ', 'bASIC \t', 'Token ', 'pst', 'pst_', 'old_', 'a_', 'e30.', 'e3t9.'),
  fc.constantFrom(mint('a'), oldKey, spoilt, mint('ghp'), oldKey.slice(0, 30), token, token.slice(0, 40)),
  fc.constantFrom(...rows.map(([, value]) => value)),
  fc.string({ unit: 'binary-ascii', maxLength: 8 }),
);
const texts = fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join(''));
const values = fc.oneof(
  texts,
  fc.tuple(texts, fc.constantFrom(base64, unpadded, url)).map(([text, encode]) => `Basic ${encode(text)}`),
);

t.test('whatever the text, the same is found as by a naive search', async (t) => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(values, (value) => own.heldIn(value) === naively(value)),
      { numRuns: isLong ? 200_000 : 3_000 },
    ),
  );
  t.ok(isApiKey(oldKey) && !isApiKey(spoilt), 'the pieces are what they are called');
});

t.test(
  'the time is linear in the length of a value',
  { skip: !isLong && 'only in the long size' },
  async (t) => {
    const hostile = [
      'a ',
      'a_ ',
      'old_ ',
      'e3t9.a.b ',
      'Basic ',
      'Basic e3t9 ',
      '. ',
      'pst ',
      `${spoilt} `,
      'a.',
    ];
    for (const piece of hostile) {
      const time = (length: number) => {
        const value = piece.repeat(length / piece.length);
        const started = process.cpuUsage();
        for (let i = 0; i < 10; i++) own.heldIn(value);
        const { user, system } = process.cpuUsage(started);
        return user + system;
      };
      time(1 << 16);
      const [short, long] = [time(1 << 16), time(1 << 20)];
      t.ok(long < short * 16 * 8 + 50_000, `${piece}: ${short} µs, and ${long} µs for sixteen times as much`);
    }
  },
);
