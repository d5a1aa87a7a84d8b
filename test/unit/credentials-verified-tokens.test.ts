import t from 'tap';
import type { AccessClaims } from '../../src/credentials/access-token.ts';
import { createPrincipal } from '../../src/credentials/principal.ts';
import { createVerifiedTokens } from '../../src/credentials/verified-tokens.ts';
import { Refusal } from '../../src/errors.ts';

const claims: AccessClaims = {
  userId: 'user-1',
  sessionId: 'session-1',
  scopes: ['a'],
  issued: 0,
  expires: 10_000,
  tokenId: 'token-1',
  kid: 'key-1',
};

const ada = createPrincipal({
  kind: 'session',
  userId: claims.userId,
  username: 'ada',
  displayName: null,
  email: null,
  scopes: claims.scopes,
  scopeSets: [],
  credentialId: claims.sessionId,
  expires: null,
  tenant: 'acme',
});

/** A memory over a verifier that says how often it was asked; whatever begins with `bad` is refused. */
function setUp(size?: number) {
  const clock = { time: 0 };
  const keys = new Set([claims.kid]);
  const asked: string[] = [];
  const verifier = {
    async verify(token: string) {
      asked.push(token);
      if (token.startsWith('bad')) throw new Refusal('invalid_token');
      return claims;
    },
    accepts: (kid: string) => keys.has(kid),
  };
  const memory = createVerifiedTokens(verifier, { now: () => clock.time, size });
  return { memory, asked, clock, keys };
}

t.test('a token is verified once and then found', async (t) => {
  const { memory, asked } = setUp();
  t.equal(memory.find('a'), undefined);
  const entry = await memory.verify('a');
  t.strictSame(entry.proof, { ...claims, text: 'a' });
  t.equal(memory.find('a'), entry);
  t.strictSame(asked, ['a']);
});

t.test('the principal stays with the cached token', async (t) => {
  const { memory } = setUp();
  const entry = await memory.verify('a');
  t.strictSame([entry.isResolved, entry.principalAt(7)], [false, undefined]);
  entry.resolve(ada, 7);
  const found = memory.find('a');
  t.strictSame([found?.isResolved, found?.principalAt(7), found?.principalAt(8)], [true, ada, undefined]);
});

t.test('parallel first uses share one verification', async (t) => {
  const { memory, asked } = setUp();
  const [one, two, other] = await Promise.all([memory.verify('a'), memory.verify('a'), memory.verify('b')]);
  t.equal(one, two);
  t.not(one, other);
  t.strictSame(asked, ['a', 'b']);
});

t.test('a failure is shared by concurrent callers, and not cached', async (t) => {
  const { memory, asked } = setUp();
  const one = memory.verify('bad');
  const two = memory.verify('bad');
  await t.rejects(one, { code: 'invalid_token' });
  await t.rejects(two, { code: 'invalid_token' });
  t.equal(memory.find('bad'), undefined);
  await t.rejects(memory.verify('bad'), { code: 'invalid_token' });
  t.strictSame(asked, ['bad', 'bad']);
});

t.test('a token is not found once its key was removed', async (t) => {
  const { memory, keys } = setUp();
  await memory.verify('a');
  keys.clear();
  t.equal(memory.find('a'), undefined);
});

t.test('a token is not found from the instant at which it expires', async (t) => {
  const { memory, clock } = setUp();
  await memory.verify('a');
  clock.time = 9_999;
  t.ok(memory.find('a'));
  clock.time = 10_000;
  t.equal(memory.find('a'), undefined);
});

t.test('a token is not found while its issue is in the future: the clock was set back', async (t) => {
  const { memory, clock } = setUp();
  await memory.verify('a');
  clock.time = -60_000;
  t.ok(memory.find('a'));
  clock.time = -60_001;
  t.equal(memory.find('a'), undefined);
  clock.time = 0;
  t.ok(memory.find('a'), 'and again once it is right');
});

t.test('the cache is bounded: tokens that are not used any more are dropped', async (t) => {
  const { memory } = setUp(2);
  for (const token of 'abcdefg') {
    await memory.verify(token);
    t.ok(memory.find('a'), 'one that is used stays');
  }
  t.equal(memory.find('b'), undefined);
  t.ok(memory.find('g'));
});
