import t from 'tap';
import { grantsOf, hasValue, profileOf } from '../../src/identity-providers/claims.ts';
import { settingsOf } from '../support/corpora/forged-assertions.ts';

t.test('a claim has a value', (t) => {
  const rows: [unknown, string | number | boolean, boolean][] = [
    ['a', 'a', true],
    ['a', 'A', false],
    ['a b', 'a', false],
    [['x', 'a'], 'a', true],
    [[['a']], 'a', false],
    [[], 'a', false],
    [true, true, true],
    ['true', true, true],
    [true, 'true', true],
    ['True', true, false],
    [1, true, false],
    [7, 7, true],
    ['7', 7, true],
    [7, '7', true],
    ['07', 7, false],
    [null, 'null', false],
    [undefined, 'undefined', false],
    [{ a: 1 }, '[object Object]', false],
    ['', '', true],
  ];
  for (const [claim, wanted, expected] of rows)
    t.equal(hasValue({ claim }, 'claim', wanted), expected, JSON.stringify([claim, wanted]));
  t.equal(hasValue({}, 'constructor', 'x'), false, 'inherited properties of objects are not claims');
  t.equal(hasValue(JSON.parse('{"__proto__":"x"}'), '__proto__', 'x'), true);
  t.end();
});

t.test('a profile is filled by the mapping', (t) => {
  const mapping = settingsOf({ claims: { username: 'upn' } }).claims;
  const profile = (claims: Record<string, unknown>) => profileOf(claims, 'sub-1', mapping);
  t.strictSame(profile({ upn: ' alice ', name: 'Alice Doe', email: 'alice@a.example' }), {
    username: 'alice',
    displayName: 'Alice Doe',
    email: 'alice@a.example',
  });
  t.strictSame(profile({}), { username: 'sub-1', displayName: null, email: null });
  t.equal(profile({ email: 'alice@a.example' }).username, 'alice@a.example', 'the e-mail address first');
  t.equal(profile({ upn: 'Ame\u0301lie' }).username, 'Am\u00e9lie', 'NFC');
  t.end();
});

const unusable: Record<string, unknown> = {
  'a number': 1,
  'a list': ['alice'],
  blank: '  ',
  'a control character': 'al\u001bice',
  'a line break at its end': 'alice\n',
  'half a surrogate pair': 'a\ud800',
  '129 code points': 'x'.repeat(129),
};
for (const [name, value] of Object.entries(unusable)) {
  t.test(`no name: ${name}`, (t) => {
    const { claims } = settingsOf();
    const profile = profileOf({ preferred_username: value, name: value, email: value }, 'sub-1', claims);
    t.strictSame(profile, { username: 'sub-1', displayName: null, email: null });
    t.end();
  });
}

t.test('a name may have 128 code points, a subject is cut to as many', (t) => {
  const { claims } = settingsOf();
  t.equal(profileOf({ preferred_username: '😀'.repeat(128) }, 's', claims).username, '😀'.repeat(128));
  t.equal(profileOf({}, 's'.repeat(255), claims).username, 's'.repeat(128));
  t.equal(profileOf({}, ` ${'s'.repeat(127)} x`, claims).username, 's'.repeat(127));
  t.end();
});

t.test('an e-mail address has one @ and no blanks', (t) => {
  const { claims } = settingsOf();
  const email = (value: string) => profileOf({ email: value }, 's', claims).email;
  t.equal(email('a@b'), 'a@b');
  t.equal(email(`${'a'.repeat(252)}@b`)?.length, 254);
  for (const bad of ['a', '@b', 'a@', 'a@b@c', 'a b@c', `${'a'.repeat(253)}@b`]) t.equal(email(bad), null);
  for (const mark of ',;<>()"') t.equal(email(`a${mark}b@c`), null, mark);
  t.equal(email('a@b.example, evil@example.com'), null);
  t.end();
});

t.test('an address that the provider says it has not verified is not taken', (t) => {
  const { claims } = settingsOf();
  const email = 'ceo@corp.example';
  const profile = (verified: unknown, mapping = claims) =>
    profileOf(
      { email, name: 'C', ...(verified !== undefined && { email_verified: verified }) },
      's',
      mapping,
    );
  for (const verified of [true, 'true', 'True', undefined, null])
    t.match(profile(verified), { username: email, email }, String(verified));
  for (const verified of [false, 'false', 'False', 0, '0', '', 'no', [], {}])
    t.match(profile(verified), { username: 's', displayName: 'C', email: null }, JSON.stringify(verified));
  const asName = settingsOf({ claims: { username: 'email' } }).claims;
  t.equal(profile(true, asName).username, email);
  t.equal(profile(false, asName).username, 's', 'nor as the name');
  const elsewhere = settingsOf({ claims: { email: 'mail' } }).claims;
  t.equal(
    profileOf({ mail: email, email_verified: false }, 's', elsewhere).email,
    null,
    'whatever its claim',
  );
  t.end();
});

t.test('grants add up, sorted and once each', (t) => {
  const { grants } = settingsOf({
    grants: [
      {
        claim: 'groups',
        value: 'admins',
        scope_sets: ['ops', 'administrator'],
        scopes: ['store:write', 'store:read'],
      },
      { claim: 'groups', value: 'staff', scope_sets: ['ops'], scopes: ['store:read'] },
      { claim: 'hd', value: 'a.example', scopes: ['audit:read'] },
    ],
  });
  const none = { scopes: [], scopeSets: [], grants: [] };
  t.strictSame(grantsOf({}, grants), none);
  t.strictSame(grantsOf({ groups: ['Admins', 'x'] }, grants), none);
  t.strictSame(grantsOf({ groups: ['staff', 'admins'], hd: 'a.example' }, grants), {
    scopes: ['audit:read', 'store:read', 'store:write'],
    scopeSets: ['administrator', 'ops'],
    grants: ['["groups","admins"]', '["groups","staff"]', '["hd","a.example"]'],
  });
  t.end();
});
