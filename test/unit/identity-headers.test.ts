import t from 'tap';
import { createPrincipal } from '../../src/credentials/principal.ts';
import {
  createIdentityHeaders,
  type IdentityField,
  type IdentityValue,
} from '../../src/proxy/identity-headers.ts';
import type { ClaimValue } from '../../src/rules/kept-claims.ts';

const ada = {
  kind: 'session' as const,
  userId: 'user-1',
  username: 'ada',
  displayName: 'Ada Lovelace',
  email: 'ada@example.com',
  scopes: ['a:read', 'b'],
  scopeSets: [],
  credentialId: 'session-1',
  expires: null,
  tenant: 'acme',
};
const context = { tenant: 'acme', builtInScopes: new Set(['users:read']) };
const all: Record<string, IdentityField> = {
  'X-Subject': 'subject',
  'Remote-User': 'username',
  'X-Name': 'display_name',
  'X-WEBAUTH-EMAIL': 'email',
  'X-Method': 'method',
  'X-Scopes': 'scopes',
  'X-Groups': 'scopes_csv',
  'X-Credential': 'credential_id',
  'X-Org': 'tenant',
};

t.test('every field is sent under the name that the upstream reads, beside X-Auth-*', async (t) => {
  const principal = createPrincipal(ada);
  t.strictSame(createIdentityHeaders(all, context)(principal).fields, [
    ...principal.identity.fields,
    ...['X-Subject', 'user-1', 'Remote-User', 'ada', 'X-Name', 'Ada%20Lovelace'],
    ...['X-WEBAUTH-EMAIL', 'ada@example.com', 'X-Method', 'session'],
    ...['X-Scopes', 'a:read b', 'X-Groups', 'a:read,b', 'X-Credential', 'session-1', 'X-Org', 'acme'],
  ]);
});

t.test('an upstream without names of its own gets X-Auth-* only', async (t) => {
  const principal = createPrincipal(ada);
  t.equal(createIdentityHeaders({}, context)(principal), principal.identity);
});

t.test('values that the caller lacks are absent, except scopes', async (t) => {
  const principal = createPrincipal({
    ...ada,
    kind: 'api_key',
    username: null,
    displayName: null,
    email: '',
    scopes: [],
  });
  const told = createIdentityHeaders(all, context)(principal).fields.slice(principal.identity.fields.length);
  t.strictSame(told, [
    ...['X-Subject', 'user-1', 'X-Method', 'api_key', 'X-Scopes', '', 'X-Groups', ''],
    ...['X-Credential', 'session-1', 'X-Org', 'acme'],
  ]);
});

t.test('no value leaves its header', async (t) => {
  const principal = createPrincipal({ ...ada, displayName: 'é\r\nX-Auth-Scopes: all%', email: 'a b' });
  const told = createIdentityHeaders({ 'X-Name': 'display_name', 'X-Email': 'email' }, context)(principal);
  t.strictSame(told.fields.slice(-4), ['X-Name', '%C3%A9%0D%0AX-Auth-Scopes:%20all%25', 'X-Email', 'a%20b']);
});

t.test('claims are told as texts and lists', async (t) => {
  const claims = new Map<string, ClaimValue>([
    ['name', 'Müller, Zoë 100%'],
    ['n', 74],
    ['big', 1e21],
    ['yes', true],
    ['no', false],
    ['groups', ['a, b', 'é%', 7, true]],
    ['one', ['a, b']],
    ['empty', []],
    ['blank', ''],
    ['blanks', ['']],
    ['spaced', ['a', ' b']],
    ['line', 'a\r\nX-Auth-Scopes: all'],
  ]);
  const all = [...claims.keys(), 'unknown'];
  const toldAs = (encoding: 'percent' | 'utf8') => {
    const names = all.map((name) => [`X-${name}`, { from: `claim:${name}` as const, encoding }]);
    return told(Object.fromEntries(names), { claims });
  };
  const always = { 'X-n': '74', 'X-big': '1e+21', 'X-yes': 'true', 'X-no': 'false' };
  t.strictSame(toldAs('percent'), {
    ...always,
    'X-name': 'M%C3%BCller%2C%20Zo%C3%AB%20100%25',
    'X-groups': 'a%2C%20b,%C3%A9%25,7,true',
    'X-one': 'a%2C%20b',
    'X-spaced': 'a,%20b',
    'X-line': 'a%0D%0AX-Auth-Scopes:%20all',
  });
  t.strictSame(toldAs('utf8'), {
    ...always,
    'X-name': utf8('Müller, Zoë 100%'),
    'X-groups': utf8('a%2C b,é%25,7,true'),
    'X-one': 'a%2C b',
  });
  t.strictSame(told({ 'X-A': 'claim:n', 'X-B': 'claim:groups' }, {}), {}, 'without any');
});

t.test('a claim decides a role, whether it is a text or a list', async (t) => {
  const first: Record<string, string>[] = [{ '74': 'Seventy-four' }, { true: 'Yes' }, { a: 'A' }];
  const names: Record<string, IdentityValue> = { 'X-Role': { from: 'claim:c', first, else: 'Viewer' } };
  const roleOf = (value: ClaimValue) => told(names, { claims: new Map([['c', value]]) })['X-Role'];
  t.equal(roleOf(74), 'Seventy-four');
  t.equal(roleOf('74'), 'Seventy-four');
  t.equal(roleOf(['x', 'a', 74]), 'Seventy-four', 'the first name, not the first item');
  t.equal(roleOf(true), 'Yes');
  t.equal(roleOf('a'), 'A');
  t.equal(roleOf('a,b'), 'Viewer');
  t.equal(roleOf([]), 'Viewer');
  t.equal(told(names, {})['X-Role'], 'Viewer', 'a caller without the claim');
  t.strictSame(told({ 'X-Role': { from: 'claim:c', first } }, {}), {});
});

t.test('they are computed once per caller', async (t) => {
  const headersOf = createIdentityHeaders(all, context);
  const principal = createPrincipal(ada);
  t.equal(headersOf(principal), headersOf(principal));
  t.not(headersOf(createPrincipal({ ...ada, email: 'new@example.com' })), headersOf(principal));
  t.match(headersOf(createPrincipal({ ...ada, email: 'new@example.com' })).fields.join(' '), /new@example/);
});

/** The values of these headers for a caller that differs from Ada as `changes` says, by name. */
function told(names: Record<string, IdentityValue>, changes: Partial<Parameters<typeof createPrincipal>[0]>) {
  const principal = createPrincipal({ ...ada, ...changes });
  const { fields } = createIdentityHeaders(names, context)(principal);
  const own = fields.slice(principal.identity.fields.length);
  return Object.fromEntries(own.flatMap((name, i) => (i % 2 === 0 ? [[name, own[i + 1]!]] : [])));
}
const utf8 = (text: string) => Buffer.from(text).toString('latin1');

t.test('lists are joined by commas, with those of their items encoded', async (t) => {
  const names: Record<string, IdentityValue> = {
    'X-A': 'scope_sets',
    'X-B': { from: 'scope_sets', encoding: 'percent' },
    'X-C': { from: 'scope_sets', encoding: 'utf8' },
    'X-D': 'service_scopes',
    'X-E': { from: 'scopes_csv', encoding: 'utf8' },
    'X-F': 'scopes_csv',
    'X-G': { from: 'scopes', encoding: 'utf8' },
  };
  const scopes = ['a,b', 'c%d', 'users:read'];
  t.strictSame(told(names, { scopes, scopeSetNames: ['a, b', 'é%'] }), {
    'X-A': 'a%2C%20b,%C3%A9%25',
    'X-B': 'a%2C%20b,%C3%A9%25',
    'X-C': utf8('a%2C b,é%25'),
    'X-D': 'a%2Cb,c%25d',
    'X-E': 'a%2Cb,c%25d,users:read',
    'X-F': 'a,b,c%25d,users:read',
    'X-G': 'a,b c%d users:read',
  });
  t.strictSame(told(names, { scopes: [] }), { 'X-E': '', 'X-F': '', 'X-G': '' }, 'without any of them');
});

t.test('in UTF-8 a value is sent as it is or not at all', async (t) => {
  const names: Record<string, IdentityValue> = {
    'X-Name': { from: 'display_name', encoding: 'utf8' },
    'X-Sets': { from: 'scope_sets', encoding: 'utf8' },
  };
  for (const text of ['Zoë', '100%, 😀', 'a  b', '\u00a0a\u00a0', '\u00ad'])
    t.strictSame(told(names, { displayName: text })['X-Name'], utf8(text), JSON.stringify(text));
  const controls = ['\u0000', '\t', '\n', '\r', '\u001f', '\u007f', '\u0080', '\u0085', '\u009f', '\ud800'];
  const left = [...controls.flatMap((one) => [one, `a${one}b`, `a${one}`]), ' a', 'a ', ' ', '\ta', ''];
  for (const text of left) {
    t.strictSame(told(names, { displayName: text }), {}, JSON.stringify(text));
    if (text !== '')
      t.strictSame(
        told(names, { scopeSetNames: ['good', text] }),
        { 'X-Name': 'Ada Lovelace' },
        'a list whole',
      );
  }
});

t.test('the first name that is held decides', async (t) => {
  const first: Record<string, string>[] = [
    { administrator: 'Admin' },
    { '74': 'Seventy-four' },
    { b: '' },
    { c: 'Grün, ja' },
  ];
  const names: Record<string, IdentityValue> = {
    'X-Role': { from: 'scope_sets', first, else: 'Viewer' },
    'X-Scope': { from: 'service_scopes', first, encoding: 'utf8' },
  };
  const roleOf = (...scopeSetNames: string[]) => told(names, { scopes: [], scopeSetNames })['X-Role'];
  t.equal(roleOf('editors', 'administrator', '74'), 'Admin');
  t.equal(roleOf('74', 'c'), 'Seventy-four');
  t.equal(roleOf('b', 'c'), undefined, 'an empty value is left out');
  t.equal(roleOf('c'), 'Gr%C3%BCn,%20ja', 'a value is a text, whatever it is chosen by');
  t.equal(roleOf('Administrator'), 'Viewer');
  t.equal(roleOf(), 'Viewer');
  t.equal(told(names, { scopes: ['c'] })['X-Scope'], utf8('Grün, ja'));
  t.equal(told(names, { scopes: ['users:read'] })['X-Scope'], undefined);
});
