import fc from 'fast-check';
import t from 'tap';
import { canonicalAccountName, parseUsername } from '../../src/rules/account-name.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 40 });

const usernames: Record<string, [raw: string, expected: ReturnType<typeof parseUsername>]> = {
  'a plain name stays': ['ada', 'ada'],
  'case is preserved': ['Ada Lovelace', 'Ada Lovelace'],
  'outer spaces go': ['  ada\u00a0\u2003', 'ada'],
  'an outer line break goes': ['\tada\r\n', 'ada'],
  'decomposed letters are composed': ['A\u030angstro\u0308m', '\u00c5ngstr\u00f6m'],
  '128 code points beyond the BMP fit': ['😀'.repeat(128), '😀'.repeat(128)],
  '129 code points do not': ['a'.repeat(129), { problem: 'too_long' }],
  'length counts what is left after trimming': [` ${'a'.repeat(128)} `, 'a'.repeat(128)],
  'length counts composed letters': ['e\u0301'.repeat(128), '\u00e9'.repeat(128)],
  'nothing is too short': ['', { problem: 'too_short' }],
  'only spaces are too short': [' \u3000 ', { problem: 'too_short' }],
  'an inner line break is refused': ['a\nb', { problem: 'control_character' }],
  'a NUL is refused': ['a\0', { problem: 'control_character' }],
  'DEL is refused': ['a\x7fb', { problem: 'control_character' }],
  'a C1 control is refused': ['a\u0085b', { problem: 'control_character' }],
  'a lone surrogate is refused': ['a\ud800', { problem: 'malformed_unicode' }],
};
for (const [name, [raw, expected]] of Object.entries(usernames)) {
  t.test(`user name: ${name}`, (t) => {
    t.strictSame(parseUsername(raw), expected);
    t.end();
  });
}

const sameAccount: Record<string, [one: string, other: string]> = {
  'in another case': ['ADA', 'ada'],
  'with outer spaces': [' ada ', 'ada'],
  'in full width': ['ａｄａ', 'ada'],
  'with a ligature': ['ﬁona', 'FIONA'],
  decomposed: ['A\u030ase', 'åse'],
  'with a capital that composes only when small': ['J\u030can', '\u01f0an'],
  'in Greek capitals': ['ΝΙΚΟΣ', 'νικος'],
  'as the kelvin sign': ['\u212aim', 'kim'],
};
for (const [name, [one, other]] of Object.entries(sameAccount)) {
  t.test(`the same account: ${name}`, (t) => {
    t.equal(canonicalAccountName(one), canonicalAccountName(other));
    t.end();
  });
}

t.test('different names stay different', (t) => {
  t.not(canonicalAccountName('ada'), canonicalAccountName('ad a'));
  t.not(canonicalAccountName('ada'), canonicalAccountName('äda'));
  t.end();
});

t.test('the canonical form is idempotent', (t) => {
  const mixed = fc.string({ unit: fc.constantFrom(...' Σσςİıſßẞ\u0301\u030c\u0345JjA¨ﷺ\u{1d400}') });
  fc.assert(
    fc.property(fc.oneof(anyText, mixed), (raw) => {
      const once = canonicalAccountName(raw);
      return canonicalAccountName(once) === once;
    }),
    { numRuns: 2_000 },
  );
  t.end();
});

t.test('a user name is stored in its final form', (t) => {
  fc.assert(
    fc.property(anyText, (raw) => {
      const name = parseUsername(raw);
      return typeof name !== 'string' || (parseUsername(name) === name && name.isWellFormed());
    }),
  );
  t.end();
});

t.test('the longest names have their whole canonical form', (t) => {
  const canonical = canonicalAccountName('\ufdfa'.repeat(128));
  t.equal(canonical.length, 128 * 18);
  t.equal(canonicalAccountName('A'.repeat(128 * 18)), 'a'.repeat(128 * 18), 'and are found by it');
  t.end();
});

t.test('a long run of combining marks costs no time', (t) => {
  const hostile = 'a' + '\u0301\u0323'.repeat(100_000);
  const before = process.cpuUsage().user;
  t.strictSame(parseUsername(hostile), { problem: 'too_long' });
  t.equal(canonicalAccountName(hostile), hostile);
  t.ok(process.cpuUsage().user - before < 500_000, 'normalising it would take seconds');
  t.end();
});
