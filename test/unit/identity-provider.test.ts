import t from 'tap';
import type { Sender } from '../../src/identity-providers/identity-provider.ts';
import { claims } from '../support/corpora/forged-assertions.ts';
import {
  mine,
  newSender,
  nobody,
  refused,
  setUpRedeeming as setUp,
  theirs,
} from '../support/servers/redeeming-provider.ts';

t.test('an assertion with the nonce of a start of this browser is redeemed, once', async (t) => {
  const { stub, provider, begin, assertion, burnt } = await setUp(t, {
    grants: [{ claim: 'groups', value: 'admins', scope_sets: ['administrator'] }],
  });
  const { nonce } = await begin(mine, '/inbox');
  const signed = assertion({ nonce, preferred_username: 'alice', groups: ['admins'], sid: 'there' });
  const { start, ...identity } = await provider.redeem({ assertion: signed }, mine);
  t.match(start, { provider: 'idp', returnTo: '/inbox' });
  t.strictSame(identity, {
    issuer: stub.origin,
    subject: 'alice-1',
    sid: 'there',
    idToken: signed,
    profile: { username: 'alice', displayName: null, email: null },
    grants: { scopes: [], scopeSets: ['administrator'], grants: ['["groups","admins"]'] },
    claims: { kept: [], leftOut: [] },
  });
  await t.rejects(provider.redeem({ assertion: signed }, mine), refused);
  await t.rejects(
    provider.redeem({ assertion: assertion({ nonce, sub: 'bob' }) }, mine),
    refused,
    'nor another with its nonce',
  );
  t.equal(burnt.size, 1);
});

t.test('a single one of twenty parallel assertions is redeemed', async (t) => {
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

t.test('a refused assertion consumes nothing', async (t) => {
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

t.test('a start expires', async (t) => {
  const { provider, begin, assertion, clock } = await setUp(t, { start_lifetime: '60s' });
  const { nonce } = await begin();
  clock.now += 60_000;
  await t.rejects(provider.redeem({ assertion: assertion({ nonce }) }, mine), refused);
  clock.now -= 1;
  t.ok(await provider.redeem({ assertion: assertion({ nonce }) }, mine));
});

t.test('an id stays consumed for longer than its start is accepted', async (t) => {
  const { provider, begin, assertion, burnt, clock } = await setUp(t);
  await provider.redeem({ assertion: assertion(await begin()) }, mine);
  t.strictSame([...burnt.values()], [clock.now + 600_000 + 60_000]);
});

t.test('a start at another provider is not valid here', async (t) => {
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

t.test('unsolicited ones are accepted when that is switched on, and consumed', async (t) => {
  const { provider, begin, assertion, burnt } = await setUp(t, { unsolicited: true });
  const signed = assertion();
  t.match(await provider.redeem({ assertion: signed }, nobody), { subject: 'alice-1', start: null });
  await t.rejects(provider.redeem({ assertion: signed }, nobody), refused);
  await t.rejects(provider.redeem({ assertion: assertion() }, mine), refused, 'signed again it is the same');
  t.strictSame([...burnt.values()], [(claims.exp + 60 + 60) * 1000], 'expiry, leeway and margin');
  t.ok(await provider.redeem({ assertion: assertion({ jti: '1' }) }, nobody));
  await t.rejects(provider.redeem({ assertion: assertion({ jti: '1', sub: 'bob' }) }, nobody), refused);
  t.ok(await provider.redeem({ assertion: assertion({ jti: '2', nonce: 'foreign' }) }, mine));
  const { nonce } = await begin(theirs);
  await t.rejects(
    provider.redeem({ assertion: assertion({ jti: '3', nonce }) }, mine),
    refused,
    'one that another browser began is still refused',
  );
});

t.test('started ones pass without the cookie, from our own pages only', async (t) => {
  const { provider, createProvider, begin, assertion, clock, burnt } = await setUp(t, {
    unsolicited: 'started',
  });
  const own = newSender(true);
  const redeem = (made: string, sender: Sender) => provider.redeem({ assertion: made }, sender);
  const { nonce } = await begin();
  await t.rejects(redeem(assertion({ nonce }), nobody), refused, 'where a foreign page may have sent it');
  await t.rejects(createProvider('other').redeem({ assertion: assertion({ nonce }) }, own), refused);
  for (const change of [{}, { nonce: 'foreign' }, { nonce: `${nonce.slice(0, -1)}_` }])
    await t.rejects(redeem(assertion(change), own), refused, 'one without a start here');
  t.equal(burnt.size, 0);
  t.match(await redeem(assertion({ nonce }), own), { subject: 'alice-1', start: { provider: 'idp' } });
  await t.rejects(redeem(assertion({ nonce }), own), refused, 'once');
  await t.rejects(redeem(assertion({ nonce }), mine), refused, 'with the cookie neither');
  t.ok(await redeem(assertion({ nonce: (await begin()).nonce }), mine), 'with the cookie from anywhere');
  const late = await begin();
  clock.now += 600_000;
  const times = { iat: claims.iat + 600, exp: claims.exp + 600 };
  await t.rejects(redeem(assertion({ nonce: late.nonce, ...times }), own), refused, 'one that has expired');
  const strict = await setUp(t);
  const begun = await strict.begin();
  const made = strict.assertion({ nonce: begun.nonce });
  await t.rejects(strict.provider.redeem({ assertion: made }, own), refused, 'unless configured');
});

t.test('while the provider is unavailable there is no start, and the log says so once', async (t) => {
  const { stub, provider, begin, warnings } = await setUp(t);
  stub.responses.clear();
  await t.rejects(begin(), { code: 'provider_unavailable' });
  await t.rejects(begin(), { code: 'provider_unavailable' });
  await t.rejects(provider.redeem({ assertion: 'x' }, mine), refused, 'a bad one is bad all the same');
  t.strictSame(warnings, [
    [
      'identity provider unavailable',
      { provider: 'idp', reason: `GET ${stub.origin}/.well-known/openid-configuration: status 404` },
    ],
  ]);
});

t.test('an unavailable store consumes nothing and admits no one', async (t) => {
  const { createProvider, begin, assertion, burnt } = await setUp(t);
  const { nonce } = await begin();
  burnt.has = () => {
    throw Object.assign(new Error(), { code: 'store_unavailable' });
  };
  await t.rejects(createProvider('idp').redeem({ assertion: assertion({ nonce }) }, mine), {
    code: 'store_unavailable',
  });
});
