import { createHmac, sign } from 'node:crypto';
import t from 'tap';
import { createAccessTokens } from '../../src/credentials/access-token.ts';
import { ringOf } from '../support/administration/signing-keys.ts';
import {
  claims,
  eddsa,
  encode,
  es256,
  foreign,
  forge,
  header,
  issuer,
  privateKeyOf,
  publicKeyOf,
  rs256,
  signSegments,
  start,
  startSeconds,
  withSpareBits,
} from '../support/corpora/forged-tokens.ts';

const tokens = createAccessTokens({
  issuer,
  keys: ringOf(rs256, eddsa, es256),
  algorithm: 'ES256',
  lifetimeMs: 600_000,
  now: () => start,
});

const good = forge(header, claims);
const [goodHeader = '', goodPayload = '', goodSignature = ''] = good.split('.');
const goodJson = JSON.stringify(claims);
/** A payload whose encoding has bits to spare. */
const oddPayload = ['', 'x', 'xx']
  .map((jti) => encode(JSON.stringify({ ...claims, jti: `token${jti}` })))
  .find((payload) => payload.length % 4 !== 0) as string;

const withHeader = (change: object) => forge({ ...header, ...change }, claims);
const withClaims = (change: object) => forge(header, { ...claims, ...change });
const without = (name: keyof typeof claims) => forge(header, { ...claims, [name]: undefined });
const headless = (name: keyof typeof header) => forge({ ...header, [name]: undefined }, claims);

function hmacToken(secret: string | Buffer, change: object = {}): string {
  const input = `${encode(JSON.stringify({ ...header, alg: 'HS256', ...change }))}.${goodPayload}`;
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
}

const publicPem = publicKeyOf(es256).export({ format: 'pem', type: 'spki' });
const publicDer = publicKeyOf(es256).export({ format: 'der', type: 'spki' });
const publicJwk = publicKeyOf(es256).export({ format: 'jwk' });
const foreignJwk = publicKeyOf(foreign).export({ format: 'jwk' });
const derSignature = sign('sha256', Buffer.from(`${goodHeader}.${goodPayload}`), privateKeyOf(es256));

const refused: Record<string, string> = {
  // Shape.
  'the empty text': '',
  'a single dot': '.',
  'only two dots': '..',
  'one segment': goodHeader,
  'no signature segment': `${goodHeader}.${goodPayload}`,
  'an empty signature': `${goodHeader}.${goodPayload}.`,
  'an empty payload': `${goodHeader}..${goodSignature}`,
  'an empty header': `.${goodPayload}.${goodSignature}`,
  'four segments': `${good}.x`,
  'a trailing dot': `${good}.`,
  'five segments, as of a JWE': `${good}.x.y`,
  'the JSON serialization': JSON.stringify({
    protected: goodHeader,
    payload: goodPayload,
    signature: goodSignature,
  }),
  'a truncated signature': good.slice(0, -1),
  'half a signature': good.slice(0, -43),
  'a signature with one byte more': `${good}AA`,
  'a space before': ` ${good}`,
  'a space behind': `${good} `,
  'a line break behind': `${good}\n`,
  'a NUL behind': `${good}\0`,
  'a token too long': withClaims({ note: 'x'.repeat(16 * 1024) }),
  // Encoding.
  'padding behind the signature': `${good}==`,
  'padding behind the header': signSegments(`${goodHeader}=`, goodPayload),
  'padding behind the payload': signSegments(goodHeader, `${goodPayload}=`),
  'spare bits set in the signature': `${goodHeader}.${goodPayload}.${withSpareBits(goodSignature)}`,
  'spare bits set in the payload': signSegments(goodHeader, withSpareBits(oddPayload)),
  'a line break in the payload': signSegments(
    goodHeader,
    `${goodPayload.slice(0, 8)}\n${goodPayload.slice(8)}`,
  ),
  'a line break in the signature': `${goodHeader}.${goodPayload}.${goodSignature.slice(0, 8)}\n${goodSignature.slice(8)}`,
  'a stray byte in the signature': `${goodHeader}.${goodPayload}.!${goodSignature}`,
  // Algorithm and key.
  'alg none without signature': `${encode(JSON.stringify({ ...header, alg: 'none' }))}.${goodPayload}.`,
  'alg none with the old signature': `${encode(JSON.stringify({ ...header, alg: 'none' }))}.${goodPayload}.${goodSignature}`,
  'alg None in another case': withHeader({ alg: 'None' }),
  'alg es256 in lower case': withHeader({ alg: 'es256' }),
  'HS256 under the public key as PEM': hmacToken(publicPem),
  'HS256 under the public key as DER': hmacToken(publicDer),
  'HS256 under the public JWK': hmacToken(JSON.stringify(publicJwk)),
  'HS256 under the kid': hmacToken(es256.kid),
  'HS256 under an empty secret': hmacToken(''),
  'an HMAC behind a header that says ES256': hmacToken(publicPem, { alg: 'ES256' }),
  'ES384 named for an ES256 key': withHeader({ alg: 'ES384' }),
  'RS256 named for an ES256 key': withHeader({ alg: 'RS256' }),
  'PS256 named for an RS256 key': forge({ ...header, alg: 'PS256', kid: rs256.kid }, claims, rs256),
  'Ed25519 named for an EdDSA key': forge({ ...header, alg: 'Ed25519', kid: eddsa.kid }, claims, eddsa),
  'no alg': headless('alg'),
  'an alg that is a list': withHeader({ alg: ['ES256'] }),
  'a foreign key under our kid': forge(header, claims, foreign),
  'a foreign key under its own kid': forge({ ...header, kid: foreign.kid }, claims, foreign),
  'our EdDSA key under the kid of the ES256 key': forge({ ...header, alg: 'EdDSA' }, claims, eddsa),
  'our RS256 key behind the ES256 header': forge(header, claims, rs256),
  'no kid': headless('kid'),
  'an empty kid': withHeader({ kid: '' }),
  'a kid that is a number': withHeader({ kid: 1 }),
  'a kid that is a path': withHeader({ kid: '../../dev/null' }),
  'a kid that is a query': withHeader({ kid: "x' UNION SELECT 'x" }),
  'a kid of Object.prototype': withHeader({ kid: '__proto__' }),
  'a kid in another case': withHeader({ kid: es256.kid.toUpperCase() }),
  'a DER signature': `${goodHeader}.${goodPayload}.${encode(derSignature)}`,
  'a signature of zeros': `${goodHeader}.${goodPayload}.${encode(Buffer.alloc(64))}`,
  'the signature of another token': `${goodHeader}.${encode(JSON.stringify({ ...claims, sub: 'user-2' }))}.${goodSignature}`,
  // Header members.
  'a jwk of the attacker': forge({ ...header, jwk: foreignJwk }, claims, foreign),
  'a jwk of our own key': withHeader({ jwk: publicJwk }),
  'a jku': withHeader({ jku: 'https://evil.example/jwks.json' }),
  'an x5u': withHeader({ x5u: 'https://evil.example/x.pem' }),
  'an x5c': withHeader({ x5c: ['AAAA'] }),
  'an empty crit': withHeader({ crit: [] }),
  'a crit of exp': withHeader({ crit: ['exp'], exp: 1 }),
  'a crit of something unknown': withHeader({ crit: ['x'], x: 1 }),
  'b64 true': withHeader({ b64: true, crit: ['b64'] }),
  'b64 false': withHeader({ b64: false, crit: ['b64'] }),
  'b64 without crit': withHeader({ b64: false }),
  'a cty of JWT': withHeader({ cty: 'JWT' }),
  'a zip': withHeader({ zip: 'DEF' }),
  'alg twice in the header': forge(JSON.stringify(header).replace('{', '{"alg":"none",'), claims),
  'a space in the header': forge(JSON.stringify(header).replace(',', ', '), claims),
  'a byte order mark before the header': forge(`\ufeff${JSON.stringify(header)}`, claims),
  'a header that is a list': forge([header], claims),
  'a header that is null': forge('null', claims),
  'a header that is not JSON': forge('{', claims),
  // Type confusion.
  'no typ': headless('typ'),
  'typ JWT': withHeader({ typ: 'JWT' }),
  'typ application/at+jwt': withHeader({ typ: 'application/at+jwt' }),
  'typ AT+JWT': withHeader({ typ: 'AT+JWT' }),
  'typ of a DPoP proof': withHeader({ typ: 'dpop+jwt' }),
  'typ of an ID token': withHeader({ typ: 'id+jwt' }),
  'typ of a logout token': withHeader({ typ: 'logout+jwt' }),
  // Issuer and audience.
  'another issuer': withClaims({ iss: 'https://evil.example' }),
  'the issuer with a trailing slash': withClaims({ iss: `${issuer}/` }),
  'the issuer in upper case': withClaims({ iss: issuer.toUpperCase() }),
  'the issuer in a list': withClaims({ iss: [issuer] }),
  'an empty issuer': withClaims({ iss: '' }),
  'another audience': withClaims({ aud: 'https://other.example' }),
  'the audience in a list': withClaims({ aud: [issuer] }),
  'the audience among others': withClaims({ aud: ['https://other.example', issuer] }),
  'the audience with a trailing slash': withClaims({ aud: `${issuer}/` }),
  'an empty audience list': withClaims({ aud: [] }),
  // Times.
  'exp now': withClaims({ exp: startSeconds }),
  'exp a second ago': withClaims({ exp: startSeconds - 1 }),
  'exp zero': withClaims({ exp: 0 }),
  'exp negative': withClaims({ exp: -1 }),
  'exp as a text': withClaims({ exp: String(startSeconds + 600) }),
  'exp null': withClaims({ exp: null }),
  'exp with a fraction': withClaims({ exp: startSeconds + 600.5 }),
  'exp beyond the safe integers': withClaims({ exp: 2 ** 60 }),
  'exp that overflows to infinity': forge(header, goodJson.replace(`${startSeconds + 600}`, '1e999')),
  'exp in exponent notation': forge(header, goodJson.replace(`${startSeconds + 600}`, '9e9')),
  'iat more than a minute ahead': withClaims({ iat: startSeconds + 61 }),
  'iat as a text': withClaims({ iat: String(startSeconds) }),
  'iat negative': withClaims({ iat: -1 }),
  'iat null': withClaims({ iat: null }),
  'nbf a second ahead': withClaims({ nbf: startSeconds + 1 }),
  'nbf as a text': withClaims({ nbf: String(startSeconds) }),
  // Presence.
  'no iss': without('iss'),
  'no aud': without('aud'),
  'no sub': without('sub'),
  'no sid': without('sid'),
  'no scope': without('scope'),
  'no iat': without('iat'),
  'no exp': without('exp'),
  'no jti': without('jti'),
  'no client_id': without('client_id'),
  // Types.
  'sub a number': withClaims({ sub: 1 }),
  'sub empty': withClaims({ sub: '' }),
  'sub null': withClaims({ sub: null }),
  'sub an object': withClaims({ sub: { id: 'user-1' } }),
  'sid a list': withClaims({ sid: ['session-1'] }),
  'sid empty': withClaims({ sid: '' }),
  'scope a list': withClaims({ scope: ['a:read'] }),
  'scope null': withClaims({ scope: null }),
  'scope with a tab': withClaims({ scope: 'a:read\tb' }),
  'jti a number': withClaims({ jti: 1 }),
  'jti empty': withClaims({ jti: '' }),
  'client_id of another client': withClaims({ client_id: 'other' }),
  'client_id in a list': withClaims({ client_id: ['postern'] }),
  // Payload.
  'a payload that is not JSON': forge(header, 'x'),
  'a payload that is null': forge(header, 'null'),
  'a payload that is a list': forge(header, [claims]),
  'a payload that is a text': forge(header, '"x"'),
  'sub twice, ours last': forge(header, goodJson.replace('{', '{"sub":"user-2",')),
  'sub twice, ours first': forge(header, goodJson.replace('}', ',"sub":"user-1"}')),
  'exp twice': forge(header, goodJson.replace('}', `,"exp":${startSeconds + 600}}`)),
  'a member written with an escape': forge(header, goodJson.replace('"sub"', '"su\\u0062"')),
  'a space in the payload': forge(header, goodJson.replace(',', ', ')),
  'a byte order mark before the payload': forge(header, `\ufeff${goodJson}`),
  'a payload that is not UTF-8': signSegments(
    goodHeader,
    encode(Buffer.concat([Buffer.from(goodJson.slice(0, -2)), Buffer.from([0xff]), Buffer.from('"}')])),
  ),
  'a __proto__ with the claims': forge(header, `{"__proto__":${goodJson}}`),
};

t.test('the token that all refused ones are made from is valid', async (t) => {
  await t.resolves(tokens.verify(good));
  await t.resolves(tokens.verify(signSegments(goodHeader, oddPayload)));
  await t.resolves(tokens.verify(forge({ ...header, alg: 'EdDSA', kid: eddsa.kid }, claims, eddsa)));
  await t.resolves(tokens.verify(forge({ ...header, alg: 'RS256', kid: rs256.kid }, claims, rs256)));
});

for (const [name, token] of Object.entries(refused)) {
  t.test(`refused: ${name}`, async (t) => {
    await t.rejects(tokens.verify(token), { name: 'Refusal', code: 'invalid_token' });
  });
}
