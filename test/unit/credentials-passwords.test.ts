import argon2 from 'argon2';
import t from 'tap';
import { createPasswordHasher, type PasswordHasher, parsePassword } from '../../src/credentials/passwords.ts';

const cheap = { memoryBytes: 64 * 1024, iterations: 2, parallelism: 1, concurrency: 1, queue: 8 };

const passwords: Record<string, [raw: string, expected: ReturnType<typeof parsePassword>]> = {
  'twelve letters are enough': ['abcdefghijkl', 'abcdefghijkl'],
  'eleven are not': ['abcdefghijk', { problem: 'too_short' }],
  'spaces count and stay': [' '.repeat(12), ' '.repeat(12)],
  'twelve code points beyond the BMP are enough': ['😀'.repeat(12), '😀'.repeat(12)],
  'eleven beyond the BMP are not': ['😀'.repeat(11), { problem: 'too_short' }],
  'composed length counts': ['e\u0301'.repeat(11), { problem: 'too_short' }],
  'it is composed': ['e\u0301'.repeat(12), 'é'.repeat(12)],
  '1,024 bytes fit': ['a'.repeat(1024), 'a'.repeat(1024)],
  '1,025 bytes do not': ['a'.repeat(1025), { problem: 'too_long' }],
  'bytes are counted after composing': ['e\u0301'.repeat(512), 'é'.repeat(512)],
  'bytes are counted, not letters': ['é'.repeat(513), { problem: 'too_long' }],
  'a lone surrogate is refused': [`${'a'.repeat(12)}\udc00`, { problem: 'malformed_unicode' }],
};
for (const [name, [raw, expected]] of Object.entries(passwords)) {
  t.test(`password: ${name}`, (t) => {
    t.strictSame(parsePassword(raw, 12), expected);
    t.end();
  });
}

t.test('a password that is too long before composing is too long after it', (t) => {
  let most = 0;
  for (let code = 0; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const text = String.fromCodePoint(code);
    const units = Math.max(text.length, text.normalize('NFD').length);
    most = Math.max(most, units / Buffer.byteLength(text.normalize('NFC')));
  }
  t.ok(most <= 2, `${most} UTF-16 units a byte`);
  t.end();
});

t.test('a long run of combining marks costs no time', (t) => {
  const before = process.cpuUsage().user;
  t.strictSame(parsePassword('\u0301\u0323'.repeat(100_000), 12), { problem: 'too_long' });
  t.ok(process.cpuUsage().user - before < 500_000, 'normalising it would take seconds');
  t.end();
});

t.test('a hash is argon2id at the configured cost and verifies', async (t) => {
  const hasher = createPasswordHasher(cheap);
  const phc = await hasher.hash('correct horse');
  t.match(phc, /^\$argon2id\$v=19\$m=64,p=1,t=2\$/);
  t.not(await hasher.hash('correct horse'), phc, 'salted');
  t.strictSame(await hasher.verify(phc, 'correct horse'), { ok: true, rehash: false });
  t.strictSame(await hasher.verify(phc, 'correct horsf'), { ok: false, rehash: false });
  t.strictSame(await hasher.verify(phc, 'correct horse '), { ok: false, rehash: false });
});

t.test('a password is correct in any Unicode composition', async (t) => {
  const hasher = createPasswordHasher(cheap);
  const phc = await hasher.hash('\u00e9clair');
  t.ok((await hasher.verify(phc, 'e\u0301clair')).ok);
});

t.test('no account, over-long and malformed passwords are negative results', async (t) => {
  const hasher = createPasswordHasher(cheap);
  const no = { ok: false, rehash: false };
  t.strictSame(await hasher.verify(null, 'correct horse'), no);
  t.strictSame(await hasher.verify(null, ''), no);
  t.strictSame(await hasher.verify(await hasher.hash('a'.repeat(1024)), 'a'.repeat(1025)), no);
  t.strictSame(await hasher.verify(await hasher.hash('\ufffd'), '\ud800'), no);
});

/** CPU time of the cheapest of several checks, in µs. */
async function leastCost(hasher: PasswordHasher, hash: string | null, password: string): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5; round++) {
    const before = process.cpuUsage();
    await hasher.verify(hash, password);
    const used = process.cpuUsage(before);
    least = Math.min(least, used.user + used.system);
  }
  return least;
}

const dear = { ...cheap, memoryBytes: 8 * 1024 * 1024, iterations: 3 };

t.test('every negative result costs as much as a wrong password', async (t) => {
  const hasher = createPasswordHasher(dear);
  const phc = await hasher.hash('correct horse');
  const wrong = await leastCost(hasher, phc, 'wrong');
  for (const [hash, password] of [
    [null, 'wrong'],
    [phc, 'a'.repeat(1025)],
    [phc, '\ud800'],
  ] as const) {
    const other = await leastCost(hasher, hash, password);
    t.ok(other > wrong / 2 && other < wrong * 2, `${other} µs against ${wrong}`);
  }
});

for (const [name, before, now] of [
  ['an earlier, cheaper cost', cheap, dear],
  ['an earlier, dearer cost', dear, cheap],
] as const)
  t.test(`a wrong password of a hash at ${name} costs as much as that of no account`, async (t) => {
    const early = await createPasswordHasher(before).hash('correct horse');
    const hasher = createPasswordHasher({ ...now, storedHashes: () => [early.slice(0, -66)] });
    const today = await hasher.hash('correct horse');
    const nobodys = await leastCost(hasher, null, 'wrong');
    for (const hash of [early, today]) {
      const wrong = await leastCost(hasher, hash, 'wrong');
      t.ok(wrong > nobodys / 2 && wrong < nobodys * 2, `${wrong} µs against ${nobodys}`);
    }
    t.ok((await hasher.verify(early, 'correct horse')).ok);
  });

t.test('a correct password asks for a rehash when the cost has changed', async (t) => {
  const before = createPasswordHasher(cheap);
  const phc = await before.hash('correct horse');
  for (const change of [{ memoryBytes: 128 * 1024 }, { iterations: 3 }, { parallelism: 2 }]) {
    const after = createPasswordHasher({ ...cheap, ...change });
    t.strictSame(await after.verify(phc, 'correct horse'), { ok: true, rehash: true });
    t.strictSame(await after.verify(phc, 'wrong'), { ok: false, rehash: false });
  }
  const other = await argon2.hash('x', { type: argon2.argon2i, memoryCost: 64, timeCost: 2, parallelism: 1 });
  t.strictSame(await before.verify(other, 'x'), { ok: true, rehash: true }, 'another kind of argon2');
});

t.test('a malformed stored hash is an error, not a negative result', async (t) => {
  const hasher = createPasswordHasher(cheap);
  await t.rejects(hasher.verify('$argon2id$nonsense', 'x'));
  t.strictSame(hasher.load(), { running: 0, waiting: 0 });
});

t.test('a full queue refuses at once, and drains', async (t) => {
  const hasher = createPasswordHasher({ ...cheap, concurrency: 1, queue: 2 });
  const phc = await hasher.hash('x');
  const accepted = [hasher.verify(phc, 'x'), hasher.verify(null, 'x'), hasher.hash('y')];
  t.strictSame(hasher.load(), { running: 1, waiting: 2 });
  await t.rejects(hasher.verify(phc, 'x'), { code: 'overloaded' });
  await t.rejects(hasher.verify(null, 'x'), { code: 'overloaded' });
  await t.rejects(hasher.verify(phc, 'a'.repeat(2000)), { code: 'overloaded' });
  await Promise.all(accepted);
  t.strictSame(hasher.load(), { running: 0, waiting: 0 });
  t.ok((await hasher.verify(phc, 'x')).ok);
});
