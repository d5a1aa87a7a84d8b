import t from 'tap';
import { es256, forge, header, jwkOf, rs256 } from '../support/corpora/forged-assertions.ts';
import { type GoodClaims, refusedAtOnce, refusedByKey } from '../support/corpora/refused-assertions.ts';
import { eventually } from '../support/eventually.ts';
import { type Browser, startProviderGateway } from '../support/gateway/provider-gateway.ts';
import { publish } from '../support/servers/stub-provider.ts';

// Every way in which an ID token can be wrong, brought in both ways: by the browser, and by the provider for a code.
const gateway = await startProviderGateway(t, {
  idp: { require: { hd: 'example.com' } },
  coded: { response: 'code', require: { hd: 'example.com' } },
});
const { api, begin, respondToCode, auditLines, secrets, stub } = gateway;
publish(stub, [jwkOf(es256), jwkOf(rs256)]);

const iat = Math.floor(Date.now() / 1000);
const goodFor = (nonce: string): GoodClaims & { readonly hd: string } => ({
  iss: stub.origin,
  aud: 'postern',
  sub: 'alice-1',
  hd: 'example.com',
  iat,
  exp: iat + 3600,
  nonce,
});

interface Refused {
  readonly status: number;
  readonly code: string;
}
const wrong: Refused = { status: 401, code: 'invalid_assertion' };
const lacking: Refused = { status: 403, code: 'user_not_provisioned' };

/** What the way it comes by makes of it before anybody reads it. */
const byBrowser: Record<string, Refused> = {
  'the empty text': { status: 422, code: 'validation_error' },
  'a megabyte of dots': { status: 413, code: 'body_too_large' },
  'an assertion too long': { status: 413, code: 'body_too_large' },
};
const byCode: Record<string, Refused> = {
  'a megabyte of dots': { status: 503, code: 'provider_unavailable' },
};

/** What only a good signature and good times let come to light: the required claim, and the nonce. */
function refusedLast(nonce: string, others: readonly string[]): Record<string, readonly [string, Refused]> {
  const good = goodFor(nonce);
  const signed = (change: object) => forge(header, { ...good, ...change });
  return {
    'a required claim that is missing': [signed({ hd: undefined }), lacking],
    'a required claim of another value': [signed({ hd: 'evil.example' }), lacking],
    'a required claim in a list of others': [signed({ hd: ['a.example', 'b.example'] }), lacking],
    'a required claim that is an object': [signed({ hd: { 'example.com': true } }), lacking],
    'no nonce': [signed({ nonce: undefined }), wrong],
    'an empty nonce': [signed({ nonce: '' }), wrong],
    'a nonce of nobody': [signed({ nonce: 'n' }), wrong],
    'a nonce cut short': [signed({ nonce: nonce.slice(0, -1) }), wrong],
    'a nonce with more behind it': [signed({ nonce: `${nonce}A` }), wrong],
    'a nonce in another case': [signed({ nonce: nonce.toLowerCase() }), wrong],
    ...Object.fromEntries(
      others.map((other, index) => [
        `a nonce of something else, ${index}`,
        [signed({ nonce: other }), wrong],
      ]),
    ),
  };
}

/** The refused sign-ins of one request: an earlier one's line may come after its response. */
const failuresOf = (requestId: unknown) =>
  auditLines().filter(({ event, request_id }) => event === 'login_failed' && request_id === requestId);

function bring(provider: 'idp' | 'coded', browser: Browser, assertion: string, state: string) {
  if (assertion.length > 20) secrets.add(assertion);
  respondToCode(assertion);
  const form: Record<string, string> = provider === 'idp' ? { assertion } : { code: 'c', state };
  return api.send({ method: 'POST', path: `/api/login/${provider}/exchange`, form, cookie: browser.cookie });
}

for (const provider of ['idp', 'coded'] as const) {
  const here = await begin({}, { provider });
  const elsewhere = await begin({}, { provider: provider === 'idp' ? 'coded' : 'idp' });
  const others = [here.nonce, here.state, elsewhere.nonce, elsewhere.state];
  const made: Record<string, readonly [string, Refused]> = Object.fromEntries(
    Object.entries({ ...refusedAtOnce(goodFor(here.nonce)), ...refusedByKey(goodFor(here.nonce)) }).map(
      ([name, text]) => [name, [text, (provider === 'idp' ? byBrowser : byCode)[name] ?? wrong] as const],
    ),
  );
  const rows = { ...made, ...refusedLast((await begin({}, { provider })).nonce, others) };
  t.ok(Object.keys(rows).length > 120);
  for (const [name, [assertion, refused]] of Object.entries(rows))
    t.test(`${provider}: ${name} is ${refused.status}`, async (t) => {
      const browser: Browser = {};
      const { state } = await begin(browser, { provider });
      const response = await bring(provider, browser, assertion, state);
      t.match(response, { status: refused.status, json: { code: refused.code }, setCookies: [] });
      const isJudged = refused === wrong || refused === lacking;
      const failures = () => failuresOf(response.headers['x-request-id']);
      if (isJudged) await eventually('the audit line', () => failures().length > 0);
      const told = failures();
      t.match(told, isJudged ? [{ provider, outcome: 'failure', reason: /^[\w .]{1,60}$/ }] : []);
      t.equal(told.length, isJudged ? 1 : 0);
      if (name in made && !name.includes('nonce'))
        t.notMatch(told[0]?.reason, /nonce$|start|used/, 'it got no further than it says');
      if (isJudged) t.match(response.json, { error: refused === wrong ? 'invalid_grant' : 'access_denied' });
    });
  t.test(`${provider}: the one that all were made from signs in, once`, async (t) => {
    const browser: Browser = {};
    const { nonce, state } = await begin(browser, { provider });
    const good = forge(header, goodFor(nonce));
    t.equal((await bring(provider, browser, good, state)).status, 200);
    t.equal((await bring(provider, browser, good, state)).status, 401);
  });
}
