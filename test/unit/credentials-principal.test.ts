import fc from 'fast-check';
import t from 'tap';
import { createPrincipal, encodeHeaderValue } from '../../src/credentials/principal.ts';

const session = {
  kind: 'session' as const,
  userId: 'user-1',
  username: 'ada',
  displayName: null,
  email: null,
  scopes: ['a:read', 'b'],
  scopeSets: [],
  credentialId: 'session-1',
  expires: 1_000,
  tenant: 'acme',
};

t.test('the headers identify a session', (t) => {
  const principal = createPrincipal(session);
  t.strictSame(principal.identity.fields, [
    ...['X-Auth-Subject', 'user-1'],
    ...['X-Auth-Username', 'ada'],
    ...['X-Auth-Method', 'session'],
    ...['X-Auth-Scopes', 'a:read b'],
    ...['X-Auth-Session-Id', 'session-1'],
    ...['X-Auth-Tenant', 'acme'],
  ]);
  t.ok(principal.held.has('a:read'));
  t.equal(principal.held.size, 2);
  t.equal(principal.expires, 1_000);
  t.notOk('tenant' in principal);
  t.end();
});

t.test('a key of a removed user has no name, and scopes that are present and empty', (t) => {
  const key = { ...session, kind: 'api_key' as const, username: null, scopes: [], expires: null };
  t.strictSame(createPrincipal({ ...key, credentialId: 'key-1' }).identity.fields, [
    ...['X-Auth-Subject', 'user-1'],
    ...['X-Auth-Method', 'api_key'],
    ...['X-Auth-Scopes', ''],
    ...['X-Auth-Key-Id', 'key-1'],
    ...['X-Auth-Tenant', 'acme'],
  ]);
  t.end();
});

t.test("a name can't start a header, and a scope can't add one", (t) => {
  const hostile = createPrincipal({
    ...session,
    username: 'a\r\nX-Auth-Scopes: admin',
    scopes: ['a b', '100%'],
  });
  t.equal(hostile.identity.fields[3], 'a%0D%0AX-Auth-Scopes:%20admin');
  t.equal(hostile.identity.fields[7], 'a%20b 100%25');
  t.end();
});

t.test("a principal can't be changed afterwards", (t) => {
  const principal = createPrincipal(session);
  t.throws(() => Object.assign(principal, { userId: 'other' }), TypeError);
  t.throws(() => (principal.identity.fields as string[]).push('X-Auth-Role', 'root'), TypeError);
  t.end();
});

const values: Record<string, [text: string, encoded: string]> = {
  'plain ASCII stays': ['ada.lovelace+1@example!~', 'ada.lovelace+1@example!~'],
  'the empty text stays': ['', ''],
  'a space': ['a b', 'a%20b'],
  'a percent sign': ['50%', '50%25'],
  'what looks encoded is encoded again': ['%41', '%2541'],
  'a letter of two bytes': ['é', '%C3%A9'],
  'a character of four bytes': ['😀', '%F0%9F%98%80'],
  'line break, NUL and DEL': ['\r\n\0\x7f', '%0D%0A%00%7F'],
};
for (const [name, [text, encoded]] of Object.entries(values)) {
  t.test(`header value: ${name}`, (t) => {
    t.equal(encodeHeaderValue(text), encoded);
    t.end();
  });
}

t.test('a header value is visible ASCII and decodes to its text', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const encoded = encodeHeaderValue(text);
      return /^[!-~]*$/.test(encoded) && decodeURIComponent(encoded) === text;
    }),
  );
  t.end();
});
