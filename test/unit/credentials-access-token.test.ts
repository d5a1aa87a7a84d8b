import fc from 'fast-check';
import t from 'tap';
import { createAccessTokens } from '../../src/credentials/access-token.ts';
import { Refusal } from '../../src/errors.ts';
import { ringOf } from '../support/administration/signing-keys.ts';
import {
  claims,
  eddsa,
  es256,
  foreign,
  forge,
  header,
  issuer,
  rs256,
  start,
  startSeconds,
} from '../support/corpora/forged-tokens.ts';

let time = start;
const base = { issuer, algorithm: 'ES256' as const, lifetimeMs: 600_000, now: () => time };
const tokens = createAccessTokens({ ...base, keys: ringOf(rs256, eddsa, es256) });
const grant = {
  userId: 'user-1',
  sessionId: 'session-1',
  scopes: ['a:read', 'b'],
  sessionExpires: start + 86_400_000,
};

const good = forge(header, claims);
const [goodHeader = '', goodPayload = '', goodSignature = ''] = good.split('.');
const withClaims = (change: object) => forge(header, { ...claims, ...change });

t.beforeEach(() => {
  time = start;
});

t.test('a token signed with our key exactly as we sign is valid', async (t) => {
  const found = await tokens.verify(good);
  t.strictSame(found, {
    userId: 'user-1',
    sessionId: 'session-1',
    scopes: ['a:read', 'b'],
    issued: startSeconds * 1000,
    expires: (startSeconds + 600) * 1000,
    tokenId: 'token-1',
    kid: es256.kid,
  });
  t.strictSame((await tokens.verify(withClaims({ scope: '' }))).scopes, []);
  await t.resolves(tokens.verify(withClaims({ nbf: startSeconds })));
  await t.resolves(tokens.verify(withClaims({ iat: startSeconds - 1, exp: startSeconds + 1 })));
  await t.resolves(tokens.verify(withClaims({ iat: startSeconds + 60 })), 'a gateway whose clock is ahead');
});

t.test('a refusal contains nothing of the token', async (t) => {
  for (const token of [withClaims({ exp: 1 }), withClaims({ aud: [issuer] }), `${good}==`]) {
    const error: Refusal = await tokens.verify(token).then(t.fail, (reason) => reason);
    t.type(error.options.cause, 'string');
    t.notMatch(String(error.options.cause), /user-1|session-1|acme/);
  }
});

for (const algorithm of ['ES256', 'EdDSA', 'RS256'] as const) {
  t.test(`${algorithm}: a signed token verifies until the second in which it expires`, async (t) => {
    const own = createAccessTokens({
      ...base,
      algorithm,
      keys: ringOf(rs256, eddsa, es256),
      newId: () => 'id',
    });
    const { token, expiresInSeconds } = await own.sign(grant);
    t.equal(expiresInSeconds, 600);
    const [first = '', second = ''] = token.split('.');
    const key = { ES256: es256, EdDSA: eddsa, RS256: rs256 }[algorithm];
    t.strictSame(JSON.parse(Buffer.from(first, 'base64url').toString()), {
      alg: algorithm,
      typ: 'at+jwt',
      kid: key.kid,
    });
    t.strictSame(JSON.parse(Buffer.from(second, 'base64url').toString()), { ...claims, jti: 'id' });
    t.equal((await own.verify(token)).sessionId, 'session-1');
    t.equal((await tokens.verify(token)).sessionId, 'session-1', 'under any configured algorithm');
    time = (startSeconds + 600) * 1000 - 1;
    await t.resolves(own.verify(token));
    time += 1;
    await t.rejects(own.verify(token), { code: 'invalid_token' });
  });
}

t.test('a token never outlives its session, to the second below', async (t) => {
  const { token, expiresInSeconds } = await tokens.sign({ ...grant, sessionExpires: start + 5_500 });
  t.equal(expiresInSeconds, 5);
  t.equal((await tokens.verify(token)).expires, (startSeconds + 5) * 1000);
  const late = await tokens.sign({ ...grant, sessionExpires: start - 2_000 });
  t.equal(late.expiresInSeconds, 0);
  await t.rejects(tokens.verify(late.token), { code: 'invalid_token' });
});

t.test('every token has its own id', async (t) => {
  const [one, two] = await Promise.all([tokens.sign(grant), tokens.sign(grant)]);
  t.not((await tokens.verify(one.token)).tokenId, (await tokens.verify(two.token)).tokenId);
});

t.test('signing a token with more scopes than fit is an error', async (t) => {
  const scopes = Array.from({ length: 2_000 }, (_, index) => `scope:${index}`);
  await t.rejects(tokens.sign({ ...grant, scopes }), RangeError);
});

t.test('the newest key of the algorithm signs, an older one still verifies', async (t) => {
  const before = createAccessTokens({ ...base, keys: ringOf(es256) });
  const after = createAccessTokens({ ...base, keys: ringOf(foreign, es256) });
  const { token } = await before.sign(grant);
  await t.resolves(after.verify(token));
  await t.rejects(before.verify((await after.sign(grant)).token), { code: 'invalid_token' });
});

t.test('a token of another tenant under the same key is refused', async (t) => {
  const other = createAccessTokens({ ...base, issuer: 'https://other.example', keys: ringOf(es256) });
  await t.rejects(tokens.verify((await other.sign(grant)).token), { code: 'invalid_token' });
});

t.test('the published keys are public, whole and named', async (t) => {
  const { keys } = await tokens.jwks();
  t.strictSame(
    keys.map((key) => [key.kid, key.alg, key.use]),
    [rs256, eddsa, es256].map((key) => [key.kid, key.algorithm, 'sig']),
  );
  for (const key of keys) {
    for (const secret of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']) t.notOk(secret in key, secret);
  }
  t.strictSame(Object.keys(keys[0] ?? {}).sort(), ['alg', 'e', 'kid', 'kty', 'n', 'use']);
});

t.test('without a key of the algorithm nothing is created', (t) => {
  t.throws(() => createAccessTokens({ ...base, keys: ringOf(eddsa) }), /no signing key/);
  t.end();
});

t.test('whatever is presented, the response is invalid_token', async () => {
  const segment = fc.oneof(
    fc.string(),
    fc.base64String(),
    fc.constantFrom(goodHeader, goodPayload, goodSignature),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(segment, { maxLength: 4 }), async (segments) => {
      const token = segments.join('.');
      if (token === good) return;
      const outcome = await tokens.verify(token).catch((error) => error);
      if (!(outcome instanceof Refusal) || outcome.code !== 'invalid_token') throw outcome;
    }),
    { numRuns: 500 },
  );
});

t.test('a changed character anywhere is refused', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(good.length - 1), fc.constantFrom(...'Az09-_.=+ '), async (at, other) => {
      if (good[at] === other) return;
      const outcome = await tokens
        .verify(good.slice(0, at) + other + good.slice(at + 1))
        .catch((error) => error);
      if (!(outcome instanceof Refusal)) throw new Error(`accepted a change at ${at}`);
    }),
    { numRuns: 300 },
  );
});
