import { createHash } from 'node:crypto';
import t from 'tap';
import { authorizationUrl } from '../../src/identity-providers/provider-urls.ts';
import { settingsOf } from '../support/corpora/forged-assertions.ts';

const start = { ticket: 'ticket', companion: 'companion', codeVerifier: 'verifier' };
const parametersOf = (changes: object, endpoint = 'https://login.example.com/auth') => {
  const url = new URL(authorizationUrl({ endpoint, settings: settingsOf(changes), start }));
  return { url, query: Object.fromEntries(url.searchParams) };
};
const common = {
  client_id: 'postern',
  redirect_uri: 'https://acme.example.com/signed-in',
  scope: 'openid profile email',
};

t.test('for an ID token the ticket is the nonce', (t) => {
  const { url, query } = parametersOf({});
  t.equal(url.origin + url.pathname, 'https://login.example.com/auth');
  t.strictSame(query, { ...common, response_type: 'id_token', state: 'companion', nonce: 'ticket' });
  t.end();
});

t.test('for a code the ticket is the state, and PKCE is S256', (t) => {
  t.strictSame(parametersOf({ response: 'code' }).query, {
    ...common,
    response_type: 'code',
    state: 'ticket',
    nonce: 'companion',
    code_challenge: createHash('sha256').update('verifier').digest('base64url'),
    code_challenge_method: 'S256',
  });
  t.end();
});

t.test('further parameters are added, and the endpoint’s own query is kept', (t) => {
  const changes = { parameters: { prompt: 'login', ui_locales: 'de fr' }, scopes: ['openid'] };
  const { query } = parametersOf(changes, 'https://login.example.com/auth?tenant=t&state=x');
  t.match(query, { prompt: 'login', ui_locales: 'de fr', scope: 'openid', tenant: 't', state: 'companion' });
  t.end();
});
