import t from 'tap';
import { managedOf } from '../../src/administration/managed.ts';
import { loadGood, type Row, testRows } from './config-rows.ts';

const argon2 =
  '$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0c2FsdA$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g';

const rows: Row[] = [
  [
    'scopes outside the catalogue, of users and sets',
    'scopes: { a: A }\nscope_sets: { one: { scopes: [a, »b] } }\nusers: { ada: { scopes: [»c, audit:read] } }',
    'scope_sets.one.scopes[1]: must be a scope in the catalogue (b)',
    'users.ada.scopes[0]: must be a scope in the catalogue (c)',
  ],
  [
    'a scope set that the configuration lacks',
    'scope_sets: { readers: { scopes: [] } }\nusers: { ada: { scope_sets: [readers, administrator, »raeders] } }',
    'users.ada.scope_sets[2]: must be a scope set of this configuration, or administrator: did you mean "readers"? (raeders)',
  ],
  [
    'two names of one user',
    'users: { Ada: {}, »"ADA ": {}, "ada\\u0308": {}, »"ad\\u00e4": {} }',
    'users.ADA : duplicates users.Ada: user names differ without regard to case',
    'users.ad\u00e4: duplicates users.ada\u0308: user names differ without regard to case',
  ],
  [
    'names that no user can have',
    `users: { »" ": {}, »"a\\u0007": {}, »${'x'.repeat(129)}: {} }`,
    'users. : must not be empty',
    'users.a\\u{7}: must not contain control characters',
    `users.${'x'.repeat(129)}: must be at most 128 characters`,
  ],
  [
    'names that no scope set can have',
    'scope_sets: { »administrator: { scopes: [] }, »" a": { scopes: [] } }',
    'scope_sets.administrator: is reserved',
    'scope_sets. a: must have no outer spaces',
  ],
  [
    'names that read as the built-in set',
    'scope_sets: { »Administrator: { scopes: [] }, »"administrator\\u200b": { scopes: [] }, administrators: { scopes: [] } }',
    'scope_sets.Administrator: reads as administrator, the built-in scope set',
    'scope_sets.administrator\\u{200b}: reads as administrator, the built-in scope set',
  ],
  [
    'control characters in a description, but for line ends',
    'scope_sets: { a: { scopes: [], description: »"a\\u0007" }, b: { scopes: [], description: "a\\r\\nb\\n" } }',
    'scope_sets.a.description: must have no control characters other than line ends (a\\u{7})',
  ],
  [
    'a scope set without scopes',
    'scope_sets: { »readers: { description: x } }',
    'scope_sets.readers.scopes: is required',
  ],
  [
    'a service with a password',
    `users: { ci: { kind: service, »password_hash: "${argon2}" } }`,
    'users.ci.password_hash: a service has no password',
  ],
  [
    'a password in place of its hash, which is not shown',
    'users: { ada: { password_hash: »geheim } }',
    'users.ada.password_hash: must be a hash beginning with $argon2id$, $argon2i$, $scrypt$, $2a$, $2b$, $2y$, $pbkdf2-sha256$ or $pbkdf2-sha512$, within bounds of cost',
  ],
  [
    'what is not one e-mail address',
    `users: { a: { email: »a;b@c.example }, b: { email: »a }, c: { email: »"a@b, c@d" }, d: { email: »${'x'.repeat(253)}@d } }`,
    'users.a.email: must be one e-mail address of at most 254 characters',
    'users.b.email: must be one e-mail address of at most 254 characters (a)',
    'users.c.email: must be one e-mail address of at most 254 characters',
    'users.d.email: must be one e-mail address of at most 254 characters',
  ],
  [
    'an unknown field',
    'users: { ada: { »scope: [] } }',
    'users.ada.scope: unknown key: did you mean "scopes"?',
  ],
];

testRows(rows);

t.test('users and sets are the same in any order, and have the same digest', async (t) => {
  const one = loadGood(
    t,
    `scopes: { a: A, b: B }
scope_sets: { y: { scopes: [b, a] }, x: { scopes: [a, a] } }
users: { " Bob ": { scopes: [b, a, b] }, ada: { scope_sets: [y, administrator], password_hash: "${argon2}" } }`,
  );
  const other = loadGood(
    t,
    `scopes: { a: A, b: B }
users: { ada: { scope_sets: [administrator, y], password_hash: { file: hash } }, " Bob ": { scopes: [a, b] } }
scope_sets: { x: { scopes: [a] }, y: { scopes: [a, b] } }`,
    { hash: `${argon2}\n` },
  );
  t.strictSame(managedOf(one.config), managedOf(other.config));
  t.match(managedOf(one.config), {
    scopeSets: [
      { name: 'x', scopes: ['a'] },
      { name: 'y', scopes: ['a', 'b'] },
    ],
    users: [
      { username: 'Bob', canonicalName: 'bob', scopes: ['a', 'b'], kind: 'person' },
      { username: 'ada', scopeSets: ['administrator', 'y'], passwordHash: argon2 },
    ],
  });
  const changed = loadGood(t, 'users: { ada: { scopes: [users:read] } }');
  t.not(managedOf(changed.config).digest, managedOf(loadGood(t, 'users: { ada: {} }').config).digest);
});
