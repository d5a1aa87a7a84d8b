import t from 'tap';
import type { Refusal } from '../../src/errors.ts';
import { verifyAssertion } from '../../src/identity-providers/id-token.ts';
import { chooseKey, parseKeySet } from '../../src/identity-providers/key-set.ts';
import {
  claims,
  eddsa,
  es256,
  foreign,
  forge,
  header,
  issuer,
  jwkOf,
  rs256,
  settingsOf,
  start,
  startSeconds,
} from '../support/corpora/forged-assertions.ts';

const keySet = parseKeySet({ keys: [jwkOf(rs256), jwkOf(es256), jwkOf(eddsa)] });
const keys = { find: async (named: { alg: string; kid?: string }) => chooseKey(keySet, named)!.key };
const verify = (assertion: string, changes: object = {}, now = start) =>
  verifyAssertion(assertion, { settings: settingsOf(changes), keys, now: () => now });
/** Why it is refused. */
const causeOf = (verifying: Promise<unknown>) =>
  verifying.then(
    () => 'accepted',
    (error: Refusal) => error.options.cause,
  );
const withClaims = (change: object) => forge(header, { ...claims, ...change });

t.test('the content of a valid assertion', async (t) => {
  const verified = await verify(withClaims({ nonce: 'n', name: 'Alice' }));
  t.match(verified, {
    subject: 'alice-1',
    nonce: 'n',
    acceptedUntil: (startSeconds + 360) * 1000,
    claims: { name: 'Alice', iss: issuer },
    replayId: /^[\w-]{43}$/,
  });
});

const accepted: Record<string, string> = {
  'signed with RS256': forge({ alg: 'RS256', kid: 'r1' }, claims, rs256),
  'signed with EdDSA': forge({ alg: 'EdDSA', kid: 'o1' }, claims, eddsa),
  'without kid': forge({ alg: 'ES256' }, claims),
  'without typ': forge({ alg: 'ES256', kid: 'e1' }, claims),
  'typ in lower case': forge({ ...header, typ: 'jwt' }, claims),
  'a thumbprint in the header': forge({ ...header, x5t: 'abc' }, claims),
  'an audience in a list': withClaims({ aud: ['postern'] }),
  'several audiences with azp': withClaims({ aud: ['other', 'postern'], azp: 'postern' }),
  'one audience with azp': withClaims({ azp: 'postern' }),
  'times with a fraction': withClaims({ iat: startSeconds - 0.5, exp: startSeconds + 0.5 }),
  'the kind that Keycloak writes': withClaims({ typ: 'ID' }),
  'white space in its JSON': forge(JSON.stringify(header, null, 1), JSON.stringify(claims, null, 2)),
  'a subject of 255 characters': withClaims({ sub: 's'.repeat(255) }),
  'a claim that is long': withClaims({ groups: 'g'.repeat(20_000) }),
};
for (const [name, assertion] of Object.entries(accepted)) {
  t.test(`accepted: ${name}`, async (t) => {
    t.ok(await verify(assertion));
  });
}

t.test('times are checked with the leeway, at both edges', async (t) => {
  const leewayMs = 60_000;
  const expiry = (startSeconds + 300) * 1000;
  const assertion = withClaims({ nbf: startSeconds });
  t.ok(await verify(assertion, {}, expiry + leewayMs - 1), 'the last millisecond');
  t.equal(await causeOf(verify(assertion, {}, expiry + leewayMs)), 'expired');
  t.ok(await verify(assertion, {}, startSeconds * 1000 - leewayMs), 'the first');
  t.equal(await causeOf(verify(assertion, {}, startSeconds * 1000 - leewayMs - 1)), 'issued in the future');
  const later = withClaims({ iat: startSeconds - 100, nbf: startSeconds + 60 });
  t.ok(await verify(later, {}, startSeconds * 1000));
  t.equal(await causeOf(verify(later, {}, startSeconds * 1000 - 1)), 'nbf');
  t.ok(await verify(assertion, { leeway: '0s' }, expiry - 1));
  t.equal(await causeOf(verify(assertion, { leeway: '0s' }, expiry)), 'expired');
});

t.test('a configured max_age is enforced', async (t) => {
  const changes = { parameters: { max_age: '600' }, leeway: '0s' };
  t.equal(await causeOf(verify(withClaims({}), changes)), 'auth_time');
  t.ok(await verify(withClaims({ auth_time: startSeconds - 599 }), changes));
  await t.rejects(verify(withClaims({ auth_time: startSeconds - 601 }), changes), {
    code: 'invalid_assertion',
  });
});

t.test('a replay id depends on the assertion, not on its signature', async (t) => {
  const idOf = async (assertion: string) => (await verify(assertion)).replayId;
  const one = await idOf(withClaims({}));
  t.equal(await idOf(withClaims({})), one, 'an ECDSA signature is another each time');
  t.not(await idOf(withClaims({ sub: 'bob' })), one);
  const named = await idOf(withClaims({ jti: 'j' }));
  t.not(named, one);
  t.equal(await idOf(withClaims({ jti: 'j', sub: 'bob' })), named);
});

t.test('required claims admit', async (t) => {
  const admitted = (require: object, change: object) => verify(withClaims(change), { require });
  t.ok(await admitted({ email_verified: true, hd: 'a.example' }, { email_verified: true, hd: 'a.example' }));
  t.ok(await admitted({ email_verified: true }, { email_verified: 'true' }), 'a boolean written as text');
  t.ok(await admitted({ groups: 'staff' }, { groups: ['x', 'staff'] }));
  const lacking: [object, object][] = [
    [{ hd: 'a.example' }, {}],
    [{ hd: 'a.example' }, { hd: 'b.example' }],
    [{ hd: 'a.example', tid: 't' }, { hd: 'a.example' }],
    [{ email_verified: true }, { email_verified: false }],
    [{ email_verified: true }, { email_verified: null }],
    [{ groups: 'staff' }, { groups: 'staff2' }],
    [{ groups: 'staff' }, { groups: { staff: true } }],
  ];
  for (const [require, change] of lacking)
    await t.rejects(admitted(require, change), { code: 'user_not_provisioned' }, JSON.stringify(change));
  await t.rejects(
    verify(forge(header, claims, foreign), { require: { hd: 'a.example' } }),
    { code: 'invalid_assertion' },
    'a forged one learns nothing of them',
  );
});
