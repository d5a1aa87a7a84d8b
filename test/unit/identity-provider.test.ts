import t, { type Test } from 'tap';
import { createIdentityProvider } from '../../src/identity-providers/identity-provider.ts';
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
import { json, publish, startStubProvider } from '../support/stub-provider.ts';

const starts = createSignInStarts({ secret: Buffer.alloc(32, 7) });
const mine = starts.newBinding();
const theirs = starts.newBinding();

async function setUp(t: Test, changes: object = {}) {
  const stub = await startStubProvider(t);
  const network = createProviderNetwork({ timeoutMs: 500 });
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
      async burn(id, expires) {
        if (burnt.has(id) || expires <= clock.now) return false;
        burnt.set(id, expires);
        return true;
      },
      now: () => clock.now,
      log: { warn: (message, fields) => warnings.push([message, fields]) },
    });
  const provider = createProvider('idp');
  const assertion = (change: object = {}, key = es256) =>
    forge(header, { ...claims, iss: stub.origin, ...change }, key);
  /** Begins a sign-in and gives what its address says. */
  async function begin(binding = mine, returnTo: string | null = null) {
    const { url } = await provider.start({ binding, returnTo });
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
  t.strictSame(await provider.redeem({ assertion: signed }, mine), {
    issuer: stub.origin,
    subject: 'alice-1',
    profile: { username: 'alice', displayName: null, email: null },
    grants: { scopes: [], scopeSets: ['administrator'] },
    returnTo: '/inbox',
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
    (await provider.redeem({ assertion: assertion({ nonce }) }, mine)).returnTo;
  t.equal(await redeem(second.nonce), '/b');
  t.equal(await redeem(first.nonce), '/a');
});

t.test('an assertion that is refused burns nothing', async (t) => {
  const { provider, begin, assertion, burnt } = await setUp(t, { require: { hd: 'a.example' } });
  const { nonce } = await begin();
  const redeem = (change: object, binding: string | undefined = mine) =>
    provider.redeem({ assertion: assertion({ nonce, ...change }) }, binding);
  await t.rejects(redeem({ hd: 'a.example', aud: 'other' }), refused);
  await t.rejects(redeem({ hd: 'b.example' }), { code: 'user_not_provisioned' });
  await t.rejects(redeem({ hd: 'a.example' }, theirs), refused, 'another browser');
  await t.rejects(
    provider.redeem({ assertion: assertion({ nonce, hd: 'a.example' }) }, undefined),
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
  t.match(await provider.redeem({ assertion: signed }, undefined), { subject: 'alice-1', returnTo: null });
  await t.rejects(provider.redeem({ assertion: signed }, undefined), refused);
  await t.rejects(provider.redeem({ assertion: assertion() }, mine), refused, 'signed anew it is the same');
  t.strictSame([...burnt.values()], [(claims.exp + 60 + 60) * 1000], 'expiry, leeway and margin');
  t.ok(await provider.redeem({ assertion: assertion({ jti: '1' }) }, undefined));
  await t.rejects(provider.redeem({ assertion: assertion({ jti: '1', sub: 'bob' }) }, undefined), refused);
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
  t.match(await provider.redeem(presented, mine), { subject: 'alice-1', returnTo: '/inbox' });
  await t.rejects(provider.redeem(presented, mine), refused);
});

t.test('a code of another start is refused', async (t) => {
  const { provider, begin, answerCode, burnt } = await setUp(t, { response: 'code' });
  const victim = await begin(theirs);
  const { state } = await begin(mine);
  answerCode(victim.nonce);
  await t.rejects(provider.redeem({ code: 'c', state }, mine), refused);
  t.equal(burnt.size, 0);
  answerCode(victim.nonce, { nonce: undefined });
  await t.rejects(provider.redeem({ code: 'c', state }, mine), refused, 'nor one without nonce');
});

t.test('a code’s ID token has its signature verified', async (t) => {
  const { stub, provider, begin, answerCode } = await setUp(t, { response: 'code' });
  const { state, nonce } = await begin();
  answerCode(nonce);
  publish(stub, [jwkOf(es256, { kid: 'other' })]);
  await t.rejects(provider.redeem({ code: 'c', state }, mine), refused);
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
  await t.rejects(begin(), { code: 'store_unavailable' });
  await t.rejects(begin(), { code: 'store_unavailable' });
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
