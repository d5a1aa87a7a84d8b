import t from 'tap';
import { nameOfGrant } from '../../src/config/sections/identity-providers.ts';
import { createHoldings } from '../../src/credentials/holdings.ts';
import { administratorSet } from '../../src/stores/administrator-set.ts';
import type { ApiKeyWithOwner } from '../../src/stores/api-key.ts';
import type { SessionOrigin } from '../../src/stores/session-origin.ts';
import type { IdentityGrants, UserHoldings } from '../../src/stores/user.ts';
import { newKey, newUser } from '../contract/fixtures.ts';

const catalogue = new Set(['a', 'b', 'c', 'd']);
const editors = { id: 's1', name: 'editors', description: '', scopes: ['a', 'b'], created: 1, updated: 1 };
const issuer = 'https://login.example.com';
const staff = { claim: 'groups', value: 'staff', scopes: ['a', 'b'], scope_sets: [] };
const admins = { claim: 'groups', value: 'admins', scopes: ['b'], scope_sets: ['editors', 'administrator'] };
const [staffName, adminsName] = [nameOfGrant(staff), nameOfGrant(admins)];

interface Row {
  readonly name: string;
  readonly providers?: Parameters<typeof createHoldings>[1];
  readonly holdings?: Partial<UserHoldings>;
  readonly scopes: readonly string[];
  readonly scopeSets?: readonly string[];
}

function granted(changes: Partial<IdentityGrants> = {}): readonly IdentityGrants[] {
  const identity = { issuer, subject: 's', provider: 'idp' };
  return [{ ...identity, grants: [staffName], scopes: ['a', 'b'], scopeSets: [], ...changes }];
}

const byAdmins = { grants: [adminsName], scopes: ['b'], scopeSets: ['administrator', 's1'] };
const all = [...catalogue];

const rows: readonly Row[] = [
  { name: 'own scopes, as far as the catalogue has them', holdings: { scopes: ['a', 'x'] }, scopes: ['a'] },
  {
    name: 'own sets and what is in them',
    holdings: { scopes: ['c'], scopeSets: ['s1'], sets: [editors] },
    scopes: ['a', 'b', 'c'],
    scopeSets: ['s1'],
  },
  {
    name: 'what a configured grant gave',
    providers: { idp: { issuer, grants: [staff] } },
    holdings: { grants: granted(), scopes: ['d'] },
    scopes: ['a', 'b', 'd'],
  },
  {
    name: 'nothing of a provider that is not configured any more',
    holdings: { grants: granted(), scopes: ['d'] },
    scopes: ['d'],
  },
  {
    name: 'nothing of another issuer, whatever it grants',
    providers: { idp: { issuer: `${issuer}/`, grants: [staff] } },
    holdings: { grants: granted() },
    scopes: [],
  },
  {
    name: 'nothing of a grant that is gone, though another one gives the same',
    providers: { idp: { issuer, grants: [{ ...staff, value: 'others' }] } },
    holdings: { grants: granted() },
    scopes: [],
  },
  {
    name: 'of a grant that gives less now what it still gives',
    providers: { idp: { issuer, grants: [{ ...staff, scopes: ['b', 'c'] }] } },
    holdings: { grants: granted() },
    scopes: ['b'],
  },
  {
    name: 'the same under another name of the provider, which is its issuer',
    providers: { renamed: { issuer, grants: [staff] } },
    holdings: { grants: granted() },
    scopes: ['a', 'b'],
  },
  {
    name: 'of several providers at one issuer the grants of each',
    providers: { one: { issuer, grants: [admins] }, two: { issuer, grants: [staff] } },
    holdings: { grants: granted() },
    scopes: ['a', 'b'],
  },
  {
    name: 'what was given before grants were kept, as far as any of the provider gives it',
    providers: { idp: { issuer, grants: [{ ...staff, scopes: ['a'] }] } },
    holdings: { grants: granted({ grants: null }) },
    scopes: ['a'],
  },
  {
    name: 'sets that are granted, by name',
    providers: { idp: { issuer, grants: [{ ...admins, scope_sets: ['editors'] }] } },
    holdings: { grants: granted(byAdmins), sets: [administratorSet, editors] },
    scopes: ['a', 'b'],
    scopeSets: ['s1'],
  },
  {
    name: 'everything by the granted administrator set',
    providers: { idp: { issuer, grants: [admins] } },
    holdings: { grants: granted(byAdmins), sets: [administratorSet, editors] },
    scopes: all,
    scopeSets: ['administrator', 's1'],
  },
  {
    name: 'an own set though the provider that granted it, too, is gone',
    holdings: { grants: granted(byAdmins), scopeSets: ['s1'], sets: [administratorSet, editors] },
    scopes: ['a', 'b'],
    scopeSets: ['s1'],
  },
];

for (const { name, providers = {}, holdings = {}, scopes, scopeSets = [] } of rows) {
  t.test(`a user holds ${name}`, async (t) => {
    const { grants, sets, ...own } = { scopes: [], scopeSets: [], grants: [], sets: [], ...holdings };
    const held = createHoldings(catalogue, providers).mostOf({ user: newUser('u', own), grants, sets });
    t.strictSame(held, { scopes, scopeSets });
  });
}

interface SessionRow {
  readonly name: string;
  readonly origin: SessionOrigin | null;
  readonly providers?: Row['providers'];
  readonly grants?: readonly IdentityGrants[];
  readonly sets?: UserHoldings['sets'];
  readonly scopes: readonly string[];
  readonly scopeSets?: readonly string[];
}

const begun: SessionOrigin = { issuer, subject: 's', provider: 'idp' };
const idp = { issuer, grants: [staff, admins] };

/** Of a user whose own scope is `d`. */
const sessionRows: readonly SessionRow[] = [
  { name: 'by password: what is its user’s own', origin: null, scopes: ['d'] },
  {
    name: 'by password: neither a granted set nor what is in it',
    origin: null,
    grants: granted(byAdmins),
    sets: [administratorSet, editors],
    scopes: ['d'],
  },
  { name: 'that began at the provider: what that granted', origin: begun, scopes: ['a', 'b', 'd'] },
  {
    name: 'that began at the provider: everything by the granted administrator set',
    origin: begun,
    grants: granted(byAdmins),
    sets: [administratorSet, editors],
    scopes: all,
    scopeSets: ['administrator', 's1'],
  },
  {
    name: 'of another subject at the provider: nothing of this one’s',
    origin: { ...begun, subject: 't' },
    scopes: ['d'],
  },
  {
    name: 'of another issuer: nothing, whatever the provider’s name',
    origin: { ...begun, issuer: 'https://other.example.com' },
    scopes: ['d'],
  },
  {
    name: 'of a provider that is not configured any more: nothing',
    origin: begun,
    providers: { idp: { issuer: 'https://other.example.com', grants: [staff] } },
    scopes: ['d'],
  },
  {
    name: 'of a provider that was renamed: the same',
    origin: begun,
    providers: { renamed: idp },
    scopes: ['a', 'b', 'd'],
  },
  {
    name: 'of a provider whose name is another issuer’s now, and that was renamed: the same',
    origin: begun,
    providers: { renamed: idp, idp: { issuer: 'https://other.example.com', grants: [] } },
    scopes: ['a', 'b', 'd'],
  },
  {
    name: 'of another provider of the issuer: nothing of this one’s',
    origin: { ...begun, provider: 'open' },
    providers: { idp, open: { issuer, grants: [staff] } },
    scopes: ['d'],
  },
  {
    name: 'of a provider that is gone, where others of its issuer are left: nothing',
    origin: { ...begun, provider: 'gone' },
    providers: { idp, open: { issuer, grants: [staff] } },
    grants: granted({ provider: 'gone' }),
    scopes: ['d'],
  },
  {
    name: 'of a provider that is gone, where only the one that granted is left: nothing of that one’s',
    origin: { ...begun, provider: 'open' },
    scopes: ['d'],
  },
  {
    name: 'of a provider that is gone, from when the granting one was not kept: nothing',
    origin: { ...begun, provider: 'open' },
    grants: granted({ provider: null }),
    scopes: ['d'],
  },
  {
    name: 'from when the granting provider was not kept: what the session’s own provider gives',
    origin: { ...begun, provider: 'open' },
    providers: { idp, open: { issuer, grants: [{ ...staff, scopes: ['b'] }] } },
    grants: granted({ provider: null }),
    scopes: ['b', 'd'],
  },
];

for (const { name, origin, providers = { idp }, ...row } of sessionRows) {
  t.test(`a session holds, ${name}`, async (t) => {
    const { grants = granted(), sets = [], scopes, scopeSets = [] } = row;
    const found = { user: newUser('u', { scopes: ['d'] }), grants, sets };
    const holdings = createHoldings(catalogue, providers);
    t.strictSame(holdings.ofUser(found, origin), { scopes, scopeSets });
    const key = keyOf({ scopes: all, scopeSets: ['administrator', 's1'], origin }, [], {
      ...found,
      scopes: ['d'],
    });
    t.strictSame(holdings.ofKey(key), { scopes, scopeSets }, 'and so does a key that comes of it');
  });
}

t.test('an issuer can grant the rights that any of its providers names', async (t) => {
  const other = { issuer: 'https://other.example.com', grants: [{ ...staff, scopes: ['d'] }] };
  const holdings = createHoldings(catalogue, {
    one: { issuer, grants: [admins] },
    two: { issuer, grants: [staff] },
    other,
  });
  const { scopes, setNames } = holdings.grantableBy(issuer);
  t.strictSame(
    [[...new Set(scopes)].sort(), setNames],
    [
      ['a', 'b'],
      ['editors', 'administrator'],
    ],
  );
  t.strictSame(holdings.grantableBy('https://none.example.com'), { scopes: [], setNames: [] });
});

function keyOf(
  key: Pick<ApiKeyWithOwner['key'], 'scopes' | 'scopeSets'> & Partial<Pick<ApiKeyWithOwner['key'], 'origin'>>,
  sets: ApiKeyWithOwner['sets'],
  owner: Partial<UserHoldings> | null,
): ApiKeyWithOwner {
  const who = { id: 'owner', username: 'OWNER', displayName: null, email: null, disabled: false };
  const holdings = { scopes: [], scopeSets: [], grants: [], sets: [] };
  return { key: newKey('k', key), sets, version: 1, owner: owner && { ...who, ...holdings, ...owner } };
}

const keys: readonly (readonly [string, ApiKeyWithOwner, readonly string[], readonly string[]])[] = [
  [
    'what its owner holds, too',
    keyOf({ scopes: ['a', 'b', 'x'], scopeSets: [] }, [], { scopes: ['b', 'c', 'x'] }),
    ['b'],
    [],
  ],
  [
    'no set that its owner has lost, but of its scopes what the owner holds otherwise',
    keyOf({ scopes: [], scopeSets: ['s1'] }, [editors], { scopes: ['b', 'c'] }),
    ['b'],
    [],
  ],
  [
    'a set that its owner holds',
    keyOf({ scopes: [], scopeSets: ['s1'] }, [editors], { scopeSets: ['s1'], sets: [editors] }),
    ['a', 'b'],
    ['s1'],
  ],
  [
    'any set while its owner is an administrator',
    keyOf({ scopes: ['c'], scopeSets: ['s1'] }, [editors], {
      scopeSets: ['administrator'],
      sets: [administratorSet],
    }),
    ['a', 'b', 'c'],
    ['s1'],
  ],
  [
    'as an administrator’s, once the owner is none, what the owner has left',
    keyOf({ scopes: [], scopeSets: ['administrator'] }, [administratorSet], { scopes: ['d'] }),
    ['d'],
    [],
  ],
  [
    'nothing by what a provider gave its owner and is not configured to give',
    keyOf({ scopes: ['a'], scopeSets: ['administrator'] }, [administratorSet], {
      grants: granted(byAdmins),
      sets: [administratorSet, editors],
    }),
    [],
    [],
  ],
  [
    'its own when it was kept without its owner',
    keyOf({ scopes: ['c'], scopeSets: ['s1'] }, [editors], null),
    ['a', 'b', 'c'],
    ['s1'],
  ],
];

for (const [name, key, scopes, scopeSets] of keys) {
  t.test(`a key holds ${name}`, async (t) => {
    t.strictSame(createHoldings(catalogue, {}).ofKey(key), { scopes, scopeSets });
  });
}

t.test('a caller is known by the sets whose every scope it has', async (t) => {
  const holdings = createHoldings(catalogue, {});
  const empty = { ...editors, id: 's2', name: 'all of us', scopes: [] };
  const stale = { ...editors, id: 's3', name: 'stale', scopes: ['x'] };
  const sets = [administratorSet, editors, empty, stale];
  const namesOf = (scopes: readonly string[], isRestricted: boolean, scopeSets = sets.map(({ id }) => id)) =>
    holdings.namesOf(sets, { scopeSets }, scopes, isRestricted);
  t.strictSame(namesOf(all, false), ['administrator', 'all of us', 'editors', 'stale']);
  t.strictSame(namesOf(all, true), ['administrator', 'editors'], 'all of them asked for');
  t.strictSame(namesOf(['a', 'b'], true), ['editors']);
  t.strictSame(namesOf(['a', 'c'], true), []);
  t.strictSame(
    namesOf(['a', 'c'], false),
    ['all of us', 'stale'],
    'sets without scopes that count say nothing',
  );
  t.strictSame(namesOf(all, false, ['s1', 'gone']), ['editors'], 'of those that are held');
  t.strictSame(namesOf(all, false, []), []);
});
