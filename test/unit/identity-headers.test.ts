import t from 'tap';
import { createPrincipal } from '../../src/credentials/principal.ts';
import { createIdentityHeaders, type IdentityField } from '../../src/proxy/identity-headers.ts';

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
  t.strictSame(createIdentityHeaders(all, 'acme')(principal).fields, [
    ...principal.identity.fields,
    ...['X-Subject', 'user-1', 'Remote-User', 'ada', 'X-Name', 'Ada%20Lovelace'],
    ...['X-WEBAUTH-EMAIL', 'ada@example.com', 'X-Method', 'session'],
    ...['X-Scopes', 'a:read b', 'X-Groups', 'a:read,b', 'X-Credential', 'session-1', 'X-Org', 'acme'],
  ]);
});

t.test('an upstream without names of its own gets X-Auth-* only', async (t) => {
  const principal = createPrincipal(ada);
  t.equal(createIdentityHeaders({}, 'acme')(principal), principal.identity);
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
  const told = createIdentityHeaders(all, 'acme')(principal).fields.slice(principal.identity.fields.length);
  t.strictSame(told, [
    ...['X-Subject', 'user-1', 'X-Method', 'api_key', 'X-Scopes', '', 'X-Groups', ''],
    ...['X-Credential', 'session-1', 'X-Org', 'acme'],
  ]);
});

t.test('no value leaves its header', async (t) => {
  const principal = createPrincipal({ ...ada, displayName: 'é\r\nX-Auth-Scopes: all%', email: 'a b' });
  const told = createIdentityHeaders({ 'X-Name': 'display_name', 'X-Email': 'email' }, 'acme')(principal);
  t.strictSame(told.fields.slice(-4), ['X-Name', '%C3%A9%0D%0AX-Auth-Scopes:%20all%25', 'X-Email', 'a%20b']);
});

t.test('they are computed once per caller', async (t) => {
  const headersOf = createIdentityHeaders(all, 'acme');
  const principal = createPrincipal(ada);
  t.equal(headersOf(principal), headersOf(principal));
  t.not(headersOf(createPrincipal({ ...ada, email: 'new@example.com' })), headersOf(principal));
  t.match(headersOf(createPrincipal({ ...ada, email: 'new@example.com' })).fields.join(' '), /new@example/);
});
