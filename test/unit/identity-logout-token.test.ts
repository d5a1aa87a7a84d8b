import t from 'tap';
import { Refusal } from '../../src/errors.ts';
import { chooseKey, parseKeySet } from '../../src/identity-providers/key-set.ts';
import { verifyLogoutToken } from '../../src/identity-providers/logout-token.ts';
import {
  claims,
  encode,
  es256,
  foreign,
  forge,
  issuer,
  jwkOf,
  rs256,
  settingsOf,
  signSegments,
  start,
  startSeconds,
} from '../support/corpora/forged-assertions.ts';
import { logoutClaims, logoutEvent, logoutHeader } from '../support/corpora/forged-logout-tokens.ts';

const keySet = parseKeySet({ keys: [jwkOf(rs256), jwkOf(es256)] });
let asked = 0;
const keys = {
  async find(named: { alg: string; kid?: string }) {
    asked += 1;
    const chosen = chooseKey(keySet, named);
    if (chosen === undefined) throw new Refusal('invalid_assertion', { cause: 'no such key' });
    return chosen.key;
  },
};
const verify = (token: string, settings = settingsOf()) =>
  verifyLogoutToken(token, { settings, keys, now: () => start });
const good = { ...claims, ...logoutClaims };
const withClaims = (change: object) => forge(logoutHeader, { ...good, ...change });
const withHeader = (change: object) => forge({ ...logoutHeader, ...change }, good);

t.test('a logout token means sessions by sid, and without one by subject', async (t) => {
  const acceptedUntil = (claims.exp + 60) * 1000;
  const { replayId, ...bySid } = await verify(withClaims({}));
  t.strictSame(bySid, { sessions: { issuer, sid: 'there' }, acceptedUntil });
  t.match(replayId, /^[\w-]{43}$/);
  t.equal((await verify(withClaims({ sub: undefined }))).replayId, replayId, 'jti identifies it');
  t.not((await verify(withClaims({ jti: 'another' }))).replayId, replayId);
  const bySubject = await verify(withClaims({ sid: undefined }));
  t.strictSame(bySubject.sessions, { issuer, subject: 'alice-1' });
});

const accepted: Record<string, string> = {
  'without typ': withHeader({ typ: undefined }),
  'with typ in capitals': withHeader({ typ: 'Logout+JWT' }),
  'by sid alone': withClaims({ sub: undefined }),
  'with several audiences': withClaims({ aud: ['postern', 'other'], azp: 'postern' }),
  'with more than one event': withClaims({ events: { [logoutEvent]: {}, other: {} } }),
  'without the claims that a sign-in requires': withClaims({ email_verified: undefined }),
  'with a clock that is a little ahead': withClaims({ iat: startSeconds + 59, exp: startSeconds + 100 }),
};
for (const [name, token] of Object.entries(accepted))
  t.test(`accepted: ${name}`, async (t) => {
    const settings = settingsOf({ require: { email_verified: true }, parameters: { max_age: '60' } });
    t.ok(await verify(token, settings));
  });

const refusedAtOnce: Record<string, string> = {
  'the empty text': '',
  'two dots': '..',
  'an ID token': forge({ ...logoutHeader, typ: 'JWT' }, claims),
  'an ID token without typ': forge(
    { ...logoutHeader, typ: undefined },
    { ...claims, sid: 'there', jti: 'j' },
  ),
  'no algorithm': withHeader({ alg: 'none' }),
  'a symmetric algorithm': withHeader({ alg: 'HS256' }),
  'typ of an ID token': withHeader({ typ: 'JWT' }),
  'typ of an access token': withHeader({ typ: 'at+jwt' }),
  'typ that is a list': withHeader({ typ: ['logout+jwt'] }),
  'critical extensions': withHeader({ crit: ['x'], x: 1 }),
  'another issuer': withClaims({ iss: 'https://login.example.org' }),
  'an issuer with a slash at its end': withClaims({ iss: `${issuer}/` }),
  'no issuer': withClaims({ iss: undefined }),
  'another audience': withClaims({ aud: 'other' }),
  'no audience': withClaims({ aud: undefined }),
  'several audiences, for another one': withClaims({ aud: ['postern', 'other'], azp: 'other' }),
  'no iat': withClaims({ iat: undefined }),
  'iat as a text': withClaims({ iat: `${startSeconds}` }),
  'iat in the future': withClaims({ iat: startSeconds + 62, exp: startSeconds + 300 }),
  'no exp': withClaims({ exp: undefined }),
  'exp that has passed': withClaims({ iat: startSeconds - 300, exp: startSeconds - 61 }),
  'exp before iat': withClaims({ exp: startSeconds - 1 }),
  'nbf in the future': withClaims({ nbf: startSeconds + 120 }),
  'no events': withClaims({ events: undefined }),
  'events that are a list': withClaims({ events: [logoutEvent] }),
  'events that are a text': withClaims({ events: logoutEvent }),
  'another event': withClaims({ events: { 'http://schemas.openid.net/event/other': {} } }),
  'an event that is null': withClaims({ events: { [logoutEvent]: null } }),
  'an event that is true': withClaims({ events: { [logoutEvent]: true } }),
  'a nonce': withClaims({ nonce: 'n' }),
  'a nonce that is null': withClaims({ nonce: null }),
  'neither sub nor sid': withClaims({ sub: undefined, sid: undefined }),
  'a blank sub': withClaims({ sub: ' ', sid: undefined }),
  'a sub that is a number, beside a sid': withClaims({ sub: 7 }),
  'a blank sid': withClaims({ sid: '' }),
  'a sid that is a number': withClaims({ sid: 7 }),
  'a sid that is null': withClaims({ sid: null }),
  'a sid that is too long': withClaims({ sid: 'x'.repeat(256) }),
  'no jti': withClaims({ jti: undefined }),
  'a blank jti': withClaims({ jti: '' }),
  'a jti that is a number': withClaims({ jti: 7 }),
  'a member twice': signSegments(
    encode(JSON.stringify(logoutHeader)),
    encode(JSON.stringify(good).replace('{', '{"sub":"bob",')),
  ),
};
const refusedByKey: Record<string, string> = {
  'another key under the same kid': forge(logoutHeader, good, foreign),
  'an unknown kid': withHeader({ kid: 'e9' }),
  'the signature of another token': [
    ...withClaims({}).split('.').slice(0, 2),
    withClaims({ sid: 'x' }).split('.')[2],
  ].join('.'),
  'its own key in the header': forge({ ...logoutHeader, jwk: jwkOf(foreign) }, good, foreign),
};
for (const [name, token] of Object.entries({ ...refusedAtOnce, ...refusedByKey }))
  t.test(`refused: ${name}`, async (t) => {
    const before = asked;
    const error = await verify(token).then(
      () => t.fail('it was accepted'),
      (caught: Refusal) => caught,
    );
    t.match(error, { code: 'bad_request', options: { reason: 'logout token' } });
    t.match((error as Refusal).options.cause, /^[\w .]{1,40}$/, 'nothing of the token');
    if (name in refusedAtOnce) t.equal(asked, before, 'without asking for keys');
  });

t.test('keys that can not be had refuse nothing', async (t) => {
  const unavailable = { find: () => Promise.reject(new Refusal('provider_unavailable')) };
  const rules = { settings: settingsOf(), keys: unavailable, now: () => start };
  await t.rejects(verifyLogoutToken(withClaims({}), rules), { code: 'provider_unavailable' });
});
