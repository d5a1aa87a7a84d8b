import t from 'tap';
import type { Presented } from '../../src/identity-providers/identity-provider.ts';
import { es256, jwkOf } from '../support/corpora/forged-assertions.ts';
import {
  mine,
  newSender,
  nobody,
  refused,
  setUpRedeeming as setUp,
  starts,
  theirs,
} from '../support/servers/redeeming-provider.ts';
import { json, publish, type StubResponse } from '../support/servers/stub-provider.ts';

t.test('a code is redeemed with the state of a start of this browser, once', async (t) => {
  const { provider, begin, respondToCode } = await setUp(t, { response: 'code' });
  const { state, nonce } = await begin(mine, '/inbox');
  respondToCode(nonce);
  const presented = { code: 'c', state };
  await t.rejects(provider.redeem(presented, theirs), refused);
  await t.rejects(provider.redeem({ code: 'c', state: nonce }, mine), refused);
  await t.rejects(provider.redeem({ ...presented, issuer: 'https://other.example' }, mine), refused);
  t.match(await provider.redeem(presented, mine), { subject: 'alice-1', start: { returnTo: '/inbox' } });
  await t.rejects(provider.redeem(presented, mine), refused);
});

t.test('a code of another start is refused', async (t) => {
  const { provider, begin, respondToCode, burnt } = await setUp(t, { response: 'code' });
  const victim = await begin(theirs);
  const { state } = await begin(mine);
  respondToCode(victim.nonce);
  await t.rejects(provider.redeem({ code: 'c', state }, mine), refused);
  t.equal(burnt.size, 1, 'a code is sent once, whatever comes of it');
  respondToCode(victim.nonce, { nonce: undefined });
  const again = await begin(mine);
  await t.rejects(provider.redeem({ code: 'c', state: again.state }, mine), refused, 'nor one without nonce');
});

t.test('a code’s ID token has its signature verified', async (t) => {
  const { stub, provider, begin, respondToCode } = await setUp(t, { response: 'code' });
  const { state, nonce } = await begin();
  respondToCode(nonce);
  publish(stub, [jwkOf(es256, { kid: 'other' })]);
  await t.rejects(provider.redeem({ code: 'c', state }, mine), refused);
});

t.test(
  'a single one of twenty parallel exchanges of a code is redeemed, and the code is sent once',
  async (t) => {
    const { stub, provider, begin, respondToCode } = await setUp(t, { response: 'code' });
    const { state, nonce } = await begin();
    respondToCode(nonce);
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, () => provider.redeem({ code: 'c', state }, mine)),
    );
    t.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
    for (const result of results) if (result.status === 'rejected') t.match(result.reason, refused);
    t.equal(stub.count('/token'), 1);
  },
);

t.test('a code that was certainly not redeemed can be sent again', async (t) => {
  const { stub, provider, begin, respondToCode, burnt, warnings } = await setUp(t, { response: 'code' });
  const { state, nonce } = await begin();
  const redeem = () => provider.redeem({ code: 'c', state }, mine);
  const unavailable = { code: 'provider_unavailable' };
  for (const status of [429, 503]) {
    publish(stub, [jwkOf(es256)]);
    stub.responses.set('/token', json({}, status));
    await t.rejects(redeem(), unavailable);
    t.equal(burnt.size, 0, `after ${status}`);
  }
  t.match(warnings, [
    ['identity provider unavailable', { reason: /token: status 429/ }],
    [/./, { reason: /503/ }],
  ]);
  respondToCode(nonce);
  t.ok(await redeem());
});

t.test('a code with an unknown outcome is lost', async (t) => {
  const failures: Record<string, StubResponse> = {
    'a 500': json({}, 500),
    'a redirect': (_request, response) => void response.writeHead(302, { location: '/other' }).end(),
    'a connection that breaks': (_request, response) => void response.socket?.destroy(),
    silence: () => {},
    'a refused client': json({ error: 'invalid_client' }, 401),
    'no ID token': json({ access_token: 'a', token_type: 'bearer' }),
  };
  for (const [name, response] of Object.entries(failures)) {
    const { stub, provider, begin, respondToCode } = await setUp(t, { response: 'code' });
    const { state, nonce } = await begin();
    stub.responses.set('/token', response);
    const redeem = () => provider.redeem({ code: 'c', state }, mine);
    await t.rejects(redeem(), { code: 'provider_unavailable' }, name);
    respondToCode(nonce);
    await t.rejects(redeem(), refused, name);
    t.equal(stub.count('/token'), 1, name);
  }
});

t.test('calls that are each in time still have a common timeout', async (t) => {
  const { stub, provider, begin, assertion } = await setUp(t, { response: 'code' }, { redeemTimeoutMs: 300 });
  const { state, nonce } = await begin();
  const late =
    (respond: StubResponse): StubResponse =>
    (request, response) =>
      void setTimeout(() => respond(request, response), 250);
  const tokens = { access_token: 'a', token_type: 'bearer', id_token: assertion({ nonce }) };
  stub.responses.set('/token', late(json(tokens)));
  stub.responses.set('/jwks', late(json({ keys: [jwkOf(es256)] })));
  const refusal = { code: 'provider_unavailable', options: { cause: 'the calls together took too long' } };
  await t.rejects(provider.redeem({ code: 'c', state }, mine), refusal);
});

t.test('reading the presented code counts towards the timeout', async (t) => {
  const { stub, provider, begin } = await setUp(t, { response: 'code' }, { redeemTimeoutMs: 300 });
  const { state } = await begin();
  const { promise: presented, resolve } = Promise.withResolvers<Presented>();
  setTimeout(resolve, 250, { code: 'c', state });
  stub.responses.set('/token', (_, response) => void setTimeout(() => response.end('{}'), 250));
  const refusal = { code: 'provider_unavailable', options: { cause: 'the calls together took too long' } };
  await t.rejects(provider.redeem(presented, mine), refusal);
});

t.test('a sign-in begun elsewhere neither consumes a start nor sends its code', async (t) => {
  const { stub, provider, createProvider, begin, respondToCode, burnt } = await setUp(t, {
    response: 'code',
  });
  const { state, nonce } = await begin();
  respondToCode(nonce);
  for (const sender of [theirs, nobody, newSender(true)])
    await t.rejects(provider.redeem({ code: 'c', state }, sender), refused);
  await t.rejects(createProvider('other').redeem({ code: 'c', state }, mine), refused);
  t.equal(burnt.size, 0);
  t.equal(stub.count('/token'), 0);
});

t.test('the issuer of a response is compared, and required with a code where announced', async (t) => {
  for (const response of ['id_token', 'code']) {
    const { stub, provider, begin, assertion, respondToCode, burnt } = await setUp(t, { response });
    publish(stub, [jwkOf(es256)], { authorization_response_iss_parameter_supported: true });
    const { state, nonce } = await begin();
    respondToCode(nonce);
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

t.test('only the kind of response that is configured is redeemed', async (t) => {
  const byToken = await setUp(t);
  const { nonce: ticket } = await byToken.begin();
  byToken.respondToCode(starts.open(ticket)!.companion);
  await t.rejects(byToken.provider.redeem({ code: 'c', state: ticket }, mine), refused);
  t.equal(byToken.stub.count('/token'), 0);
  const byCode = await setUp(t, { response: 'code', unsolicited: true });
  await t.rejects(byCode.provider.redeem({ assertion: byCode.assertion() }, mine), refused);
});
