import t, { type Test } from 'tap';
import { createIdentityProvider, type Sender } from '../../src/identity-providers/identity-provider.ts';
import { createProviderNetwork } from '../../src/identity-providers/provider-network.ts';
import { createSignInStarts } from '../../src/identity-providers/sign-in-start.ts';
import {
  claims,
  es256,
  forge,
  header,
  jwkOf,
  settingsOf,
  start as startInstant,
} from '../support/forged-assertions.ts';
import { json, publish, type StubAnswer, startStubProvider } from '../support/stub-provider.ts';

const starts = createSignInStarts({ secret: Buffer.alloc(32, 7) });

/** Who sends; `held` are the cookies of what was begun there. */
interface TestSender extends Sender {
  readonly held: string[];
}

function newSender(isOwnPage = false): TestSender {
  const held: string[] = [];
  return { held, bindings: () => held, isOwnPage: () => isOwnPage };
}

const mine = newSender();
const theirs = newSender();
const nobody = newSender();

async function setUp(t: Test, changes: object = {}) {
  const stub = await startStubProvider(t);
  const network = createProviderNetwork({ documentTimeoutMs: 500, fetchTimeoutMs: 500 });
  t.teardown(() => network.close());
  publish(stub, [jwkOf(es256)]);
  const clock = { now: startInstant };
  const burnt = new Map<string, number>();
  const warnings: unknown[] = [];
  const settings = settingsOf({ issuer: stub.origin, ...changes });
  const createProvider = (name: string) =>
    createIdentityProvider({
      name,
      settings,
      network,
      starts,
      singleUse: {
        async burn(id, expires) {
          if (burnt.has(id) || expires <= clock.now) return false;
          burnt.set(id, expires);
          return true;
        },
        async release(id) {
          burnt.delete(id);
        },
      },
      now: () => clock.now,
      log: { warn: (message, fields) => warnings.push([message, fields]) },
    });
  const provider = createProvider('idp');
  const assertion = (change: object = {}, key = es256) =>
    forge(header, { ...claims, iss: stub.origin, ...change }, key);
  /** Begins a sign-in and gives what its address says. */
  async function begin(browser = mine, returnTo: string | null = null) {
    const { url, start } = await provider.start({ returnTo });
    browser.held.push(start.binding);
    return Object.fromEntries(new URL(url).searchParams) as { nonce: string; state: string };
  }
  /** Makes the token endpoint answer with that nonce. */
  const answerCode = (nonce: string, change: object = {}) => {
    const tokens = { access_token: 'a', token_type: 'bearer', id_token: assertion({ nonce, ...change }) };
    stub.answers.set('/token', json(tokens));
  };
  return { stub, provider, createProvider, clock, burnt, warnings, assertion, begin, answerCode };
}

const refused = { code: 'invalid_assertion' };

t.test('an assertion with the nonce of a start of this browser is redeemed, once', async (t) => {
  const { stub, provider, begin, assertion, burnt } = await setUp(t, {
    grants: [{ claim: 'groups', value: 'admins', scope_sets: ['administrator'] }],
  });
  const { nonce } = await begin(mine, '/inbox');
  const signed = assertion({ nonce, preferred_username: 'alice', groups: ['admins'] });
  const { start, ...identity } = await provider.redeem({ assertion: signed }, mine);
  t.match(start, { provider: 'idp', returnTo: '/inbox' });
  t.strictSame(identity, {
    issuer: stub.origin,
    subject: 'alice-1',
    profile: { username: 'alice', displayName: null, email: null },
    grants: { scopes: [], scopeSets: ['administrator'] },
  });
  await t.rejects(provider.redeem({ assertion: signed }, mine), refused);
  await t.rejects(
    provider.redeem({ assertion: assertion({ nonce, sub: 'bob' }) }, mine),
    refused,
    'nor another with its nonce',
  );
  t.equal(burnt.size, 1);
});

t.test('of twenty in parallel one is redeemed', async (t) => {
  const { provider, begin, assertion } = await setUp(t);
  const signed = assertion(await begin());
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, () => provider.redeem({ assertion: signed }, mine)),
  );
  t.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
});

t.test('parallel starts of one browser do not disturb each other', async (t) => {
  const { provider, begin, assertion } = await setUp(t);
  const first = await begin(mine, '/a');
  const second = await begin(mine, '/b');
  const redeem = async (nonce: string) =>
    (await provider.redeem({ assertion: assertion({ nonce }) }, mine)).start?.returnTo;
  t.equal(await redeem(second.nonce), '/b');
  t.equal(await redeem(first.nonce), '/a');
});

t.test('an assertion that is refused burns nothing', async (t) => {
  const { provider, begin, assertion, burnt } = await setUp(t, { require: { hd: 'a.example' } });
  const { nonce } = await begin();
  const redeem = (change: object, sender: Sender = mine) =>
    provider.redeem({ assertion: assertion({ nonce, ...change }) }, sender);
  await t.rejects(redeem({ hd: 'a.example', aud: 'other' }), refused);
  await t.rejects(redeem({ hd: 'b.example' }), { code: 'user_not_provisioned' });
  await t.rejects(redeem({ hd: 'a.example' }, theirs), refused, 'another browser');
  await t.rejects(
    provider.redeem({ assertion: assertion({ nonce, hd: 'a.example' }) }, nobody),
    refused,
    'a browser without cookie',
  );
  t.equal(burnt.size, 0);
  t.ok(await redeem({ hd: 'a.example' }));
});

t.test('a start ends', async (t) => {
  const { provider, begin, assertion, clock } = await setUp(t, { start_lifetime: '60s' });
  const { nonce } = await begin();
  clock.now += 60_000;
  await t.rejects(provider.redeem({ assertion: assertion({ nonce }) }, mine), refused);
  clock.now -= 1;
  t.ok(await provider.redeem({ assertion: assertion({ nonce }) }, mine));
});

t.test('an id stays burnt for longer than its start is accepted', async (t) => {
  const { provider, begin, assertion, burnt, clock } = await setUp(t);
  await provider.redeem({ assertion: assertion(await begin()) }, mine);
  t.strictSame([...burnt.values()], [clock.now + 600_000 + 60_000]);
});

t.test('a start at another provider is none here', async (t) => {
  const { createProvider, begin, assertion } = await setUp(t, { unsolicited: true });
  const { nonce } = await begin();
  await t.rejects(createProvider('other').redeem({ assertion: assertion({ nonce }) }, mine), refused);
});

t.test('an assertion without a start is refused', async (t) => {
  const { provider, begin, assertion } = await setUp(t);
  const { state } = await begin();
  for (const change of [{}, { nonce: '' }, { nonce: 'x' }, { nonce: state }])
    await t.rejects(provider.redeem({ assertion: assertion(change) }, mine), refused);
});

t.test('unsolicited ones are accepted when that is switched on, and burnt', async (t) => {
  const { provider, begin, assertion, burnt } = await setUp(t, { unsolicited: true });
  const signed = assertion();
  t.match(await provider.redeem({ assertion: signed }, nobody), { subject: 'alice-1', start: null });
  await t.rejects(provider.redeem({ assertion: signed }, nobody), refused);
  await t.rejects(provider.redeem({ assertion: assertion() }, mine), refused, 'signed anew it is the same');
  t.strictSame([...burnt.values()], [(claims.exp + 60 + 60) * 1000], 'expiry, leeway and margin');
  t.ok(await provider.redeem({ assertion: assertion({ jti: '1' }) }, nobody));
  await t.rejects(provider.redeem({ assertion: assertion({ jti: '1', sub: 'bob' }) }, nobody), refused);
  t.ok(await provider.redeem({ assertion: assertion({ jti: '2', nonce: 'foreign' }) }, mine));
  const { nonce } = await begin(theirs);
  await t.rejects(
    provider.redeem({ assertion: assertion({ jti: '3', nonce }) }, mine),
    refused,
    'one that another browser began stays refused',
  );
});

t.test('a code is redeemed with the state of a start of this browser, once', async (t) => {
  const { provider, begin, answerCode } = await setUp(t, { response: 'code' });
  const { state, nonce } = await begin(mine, '/inbox');
  answerCode(nonce);
  const presented = { code: 'c', state };
  await t.rejects(provider.redeem(presented, theirs), refused);
  await t.rejects(provider.redeem({ code: 'c', state: nonce }, mine), refused);
  await t.rejects(provider.redeem({ ...presented, issuer: 'https://other.example' }, mine), refused);
  t.match(await provider.redeem(presented, mine), { subject: 'alice-1', start: { returnTo: '/inbox' } });
  await t.rejects(provider.redeem(presented, mine), refused);
});

t.test('a code of another start is refused', async (t) => {
  const { provider, begin, answerCode, burnt } = await setUp(t, { response: 'code' });
  const victim = await begin(theirs);
  const { state } = await begin(mine);
  answerCode(victim.nonce);
  await t.rejects(provider.redeem({ code: 'c', state }, mine), refused);
  t.equal(burnt.size, 1, 'a code is sent once, whatever comes of it');
  answerCode(victim.nonce, { nonce: undefined });
  const again = await begin(mine);
  await t.rejects(provider.redeem({ code: 'c', state: again.state }, mine), refused, 'nor one without nonce');
});

t.test('a code’s ID token has its signature verified', async (t) => {
  const { stub, provider, begin, answerCode } = await setUp(t, { response: 'code' });
  const { state, nonce } = await begin();
  answerCode(nonce);
  publish(stub, [jwkOf(es256, { kid: 'other' })]);
  await t.rejects(provider.redeem({ code: 'c', state }, mine), refused);
});

t.test('of twenty in parallel with one code one is redeemed, and the code is sent once', async (t) => {
  const { stub, provider, begin, answerCode } = await setUp(t, { response: 'code' });
  const { state, nonce } = await begin();
  answerCode(nonce);
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, () => provider.redeem({ code: 'c', state }, mine)),
  );
  t.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
  for (const result of results) if (result.status === 'rejected') t.match(result.reason, refused);
  t.equal(stub.count('/token'), 1);
});

t.test('a code that surely was not redeemed can be brought again', async (t) => {
  const { stub, provider, begin, answerCode, burnt, warnings } = await setUp(t, { response: 'code' });
  const { state, nonce } = await begin();
  const redeem = () => provider.redeem({ code: 'c', state }, mine);
  const unavailable = { code: 'provider_unavailable' };
  for (const status of [429, 503]) {
    publish(stub, [jwkOf(es256)]);
    stub.answers.set('/token', json({}, status));
    await t.rejects(redeem(), unavailable);
    t.equal(burnt.size, 0, `after ${status}`);
  }
  t.match(warnings, [
    ['identity provider unavailable', { cause: /token: status 429/ }],
    [/./, { cause: /503/ }],
  ]);
  answerCode(nonce);
  t.ok(await redeem());
});

t.test('one of which that is not known is lost', async (t) => {
  const failures: Record<string, StubAnswer> = {
    'a 500': json({}, 500),
    'a redirect': (_request, response) => void response.writeHead(302, { location: '/other' }).end(),
    'a connection that breaks': (_request, response) => void response.socket?.destroy(),
    silence: () => {},
    'a refused client': json({ error: 'invalid_client' }, 401),
    'no ID token': json({ access_token: 'a', token_type: 'bearer' }),
  };
  for (const [name, answer] of Object.entries(failures)) {
    const { stub, provider, begin, answerCode } = await setUp(t, { response: 'code' });
    const { state, nonce } = await begin();
    stub.answers.set('/token', answer);
    const redeem = () => provider.redeem({ code: 'c', state }, mine);
    await t.rejects(redeem(), { code: 'provider_unavailable' }, name);
    answerCode(nonce);
    await t.rejects(redeem(), refused, name);
    t.equal(stub.count('/token'), 1, name);
  }
});

t.test('what began elsewhere neither uses up a start nor sends its code', async (t) => {
  const { stub, provider, createProvider, begin, answerCode, burnt } = await setUp(t, { response: 'code' });
  const { state, nonce } = await begin();
  answerCode(nonce);
  for (const sender of [theirs, nobody, newSender(true)])
    await t.rejects(provider.redeem({ code: 'c', state }, sender), refused);
  await t.rejects(createProvider('other').redeem({ code: 'c', state }, mine), refused);
  t.equal(burnt.size, 0);
  t.equal(stub.count('/token'), 0);
});

t.test('the issuer beside it is compared, and required of a code where it is announced', async (t) => {
  for (const response of ['id_token', 'code']) {
    const { stub, provider, begin, assertion, answerCode, burnt } = await setUp(t, { response });
    publish(stub, [jwkOf(es256)], { authorization_response_iss_parameter_supported: true });
    const { state, nonce } = await begin();
    answerCode(nonce);
    const presented = response === 'code' ? { code: 'c', state } : { assertion: assertion({ nonce }) };
    t.equal(await provider.requiresIssuer(), response === 'code');
    for (const issuer of ['', 'https://other.example', `${stub.origin}/`, stub.origin.toUpperCase()])
      await t.rejects(provider.redeem({ ...presented, issuer }, mine), refused);
    t.equal(burnt.size, 0);
    t.ok(await provider.redeem({ ...presented, issuer: stub.origin }, mine));
  }
  const { provider } = await setUp(t, { response: 'code' });
  t.equal(await provider.requiresIssuer(), false, 'not announced');
});

t.test('started ones pass without the cookie, from pages of ours alone', async (t) => {
  const { provider, createProvider, begin, assertion, clock, burnt } = await setUp(t, {
    unsolicited: 'started',
  });
  const own = newSender(true);
  const redeem = (made: string, sender: Sender) => provider.redeem({ assertion: made }, sender);
  const { nonce } = await begin();
  await t.rejects(redeem(assertion({ nonce }), nobody), refused, 'where a foreign page may have sent it');
  await t.rejects(createProvider('other').redeem({ assertion: assertion({ nonce }) }, own), refused);
  for (const change of [{}, { nonce: 'foreign' }, { nonce: `${nonce.slice(0, -1)}_` }])
    await t.rejects(redeem(assertion(change), own), refused, 'one that was not started here');
  t.equal(burnt.size, 0);
  t.match(await redeem(assertion({ nonce }), own), { subject: 'alice-1', start: { provider: 'idp' } });
  await t.rejects(redeem(assertion({ nonce }), own), refused, 'once');
  await t.rejects(redeem(assertion({ nonce }), mine), refused, 'with the cookie neither');
  t.ok(await redeem(assertion({ nonce: (await begin()).nonce }), mine), 'with the cookie from anywhere');
  const late = await begin();
  clock.now += 600_000;
  const times = { iat: claims.iat + 600, exp: claims.exp + 600 };
  await t.rejects(redeem(assertion({ nonce: late.nonce, ...times }), own), refused, 'one that is over');
  const strict = await setUp(t);
  const begun = await strict.begin();
  const made = strict.assertion({ nonce: begun.nonce });
  await t.rejects(strict.provider.redeem({ assertion: made }, own), refused, 'unless configured');
});

t.test('what is redeemed is what the provider is configured for', async (t) => {
  const byToken = await setUp(t);
  const { nonce: ticket } = await byToken.begin();
  byToken.answerCode(starts.open(ticket)!.companion);
  await t.rejects(byToken.provider.redeem({ code: 'c', state: ticket }, mine), refused);
  t.equal(byToken.stub.count('/token'), 0);
  const byCode = await setUp(t, { response: 'code', unsolicited: true });
  await t.rejects(byCode.provider.redeem({ assertion: byCode.assertion() }, mine), refused);
});

t.test('while the provider is away there is no start, and the log says so once', async (t) => {
  const { stub, provider, begin, warnings } = await setUp(t);
  stub.answers.clear();
  await t.rejects(begin(), { code: 'provider_unavailable' });
  await t.rejects(begin(), { code: 'provider_unavailable' });
  await t.rejects(provider.redeem({ assertion: 'x' }, mine), refused, 'a bad one is bad all the same');
  t.strictSame(warnings, [
    [
      'identity provider unavailable',
      { provider: 'idp', cause: `GET ${stub.origin}/.well-known/openid-configuration: status 404` },
    ],
  ]);
});

t.test('a store that is away burns nothing and admits nobody', async (t) => {
  const { createProvider, begin, assertion, burnt } = await setUp(t);
  const { nonce } = await begin();
  burnt.has = () => {
    throw Object.assign(new Error(), { code: 'store_unavailable' });
  };
  await t.rejects(createProvider('idp').redeem({ assertion: assertion({ nonce }) }, mine), {
    code: 'store_unavailable',
  });
});
