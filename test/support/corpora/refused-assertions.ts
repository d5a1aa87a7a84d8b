import { createHmac, sign } from 'node:crypto';
import {
  encode,
  es256,
  type claims as exampleClaims,
  foreign,
  forge,
  header,
  jwkOf,
  rs256,
  signSegments,
} from './forged-assertions.ts';
import * as ours from './forged-tokens.ts';

/** The claims of an assertion that is good; what is made of them is not. */
export type GoodClaims = typeof exampleClaims & { readonly nonce?: string };

/** What an attacker has before them: a good assertion, and the means to change it. */
function partsOf(claims: GoodClaims) {
  const good = forge(header, claims);
  const [goodHeader = '', goodPayload = '', goodSignature = ''] = good.split('.');
  return {
    good,
    goodHeader,
    goodPayload,
    goodSignature,
    withHeader: (change: object) => forge({ ...header, ...change }, claims),
    withClaims: (change: object) => forge(header, { ...claims, ...change }),
  };
}

/** Refused before anybody is asked for a key. */
export function refusedAtOnce(claims: GoodClaims): Record<string, string> {
  const { good, goodHeader, goodPayload, goodSignature, withHeader, withClaims } = partsOf(claims);
  const without = (name: keyof GoodClaims) => withClaims({ [name]: undefined });
  const json = JSON.stringify(claims);
  const publicPem = rs256.publicKey.export({ format: 'pem', type: 'spki' });
  const hmacAssertion = (secret: string | Buffer) => {
    const input = `${encode(JSON.stringify({ ...header, alg: 'HS256' }))}.${goodPayload}`;
    return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
  };
  const oddPayload = ['', 'x', 'xx']
    .map((name) => encode(JSON.stringify({ ...claims, name })))
    .find((payload) => payload.length % 4 !== 0) as string;
  return {
    // Shape.
    'the empty text': '',
    'two dots alone': '..',
    'one segment': goodHeader,
    'no signature segment': `${goodHeader}.${goodPayload}`,
    'an empty signature': `${goodHeader}.${goodPayload}.`,
    'an empty payload': `${goodHeader}..${goodSignature}`,
    'an empty header': `.${goodPayload}.${goodSignature}`,
    'four segments': `${good}.x`,
    'five segments, as of a JWE': `${good}.x.y`,
    'the JSON serialization': JSON.stringify({ protected: goodHeader, payload: goodPayload }),
    'a space before': ` ${good}`,
    'a line break behind': `${good}\n`,
    'an assertion too long': withClaims({ note: 'x'.repeat(50_000) }),
    'a megabyte of dots': '.'.repeat(1024 * 1024),
    // Encoding.
    'padding behind the signature': `${good}==`,
    'padding behind the payload': signSegments(goodHeader, `${goodPayload}=`),
    'spare bits set in the signature': `${goodHeader}.${goodPayload}.${ours.withSpareBits(goodSignature)}`,
    'spare bits set in the payload': signSegments(goodHeader, ours.withSpareBits(oddPayload)),
    'a line break in the payload': signSegments(
      goodHeader,
      `${goodPayload.slice(0, 8)}\n${goodPayload.slice(8)}`,
    ),
    'base64 instead of base64url': forge(header, { ...claims, name: '???>>>' }).replace(/[-_]/g, '+'),
    // JSON.
    'a header that is no object': forge('[]', claims),
    'a header that is no JSON': forge('alg', claims),
    'a payload that is null': forge(header, 'null'),
    'a payload that is a text': forge(header, '"x"'),
    'a payload with a byte order mark': forge(header, `\ufeff${json}`),
    'a payload in invalid UTF-8': signSegments(goodHeader, encode(Buffer.from([0x7b, 0xff, 0x7d]))),
    'alg twice': forge('{"alg":"none","typ":"JWT","kid":"e1","alg":"ES256"}', claims),
    'sub twice': forge(header, json.replace('{', '{"sub":"admin",')),
    'sub twice, once escaped': forge(header, json.replace('{', '{"s\\u0075b":"admin",')),
    // Header.
    'alg none without signature': `${encode(JSON.stringify({ alg: 'none' }))}.${goodPayload}.`,
    'alg none with the old signature': `${encode(JSON.stringify({ ...header, alg: 'none' }))}.${goodPayload}.${goodSignature}`,
    'alg None in another case': withHeader({ alg: 'None' }),
    'no alg': withHeader({ alg: undefined }),
    'an alg that is a list': withHeader({ alg: ['ES256'] }),
    'an algorithm that is not allowed': withHeader({ alg: 'ES384' }),
    'HS256 under the public key as PEM': hmacAssertion(publicPem),
    'HS256 under the public JWK': hmacAssertion(JSON.stringify(jwkOf(es256))),
    'HS256 under the empty secret': hmacAssertion(''),
    'HS256 under the client id': hmacAssertion('postern'),
    'a kid that is a number': withHeader({ kid: 1 }),
    'a kid that is null': withHeader({ kid: null }),
    'crit with an unknown extension': withHeader({ crit: ['x'], x: 1 }),
    'crit that is empty': withHeader({ crit: [] }),
    'a payload that is not encoded': withHeader({ crit: ['b64'], b64: false }),
    'typ at+jwt': withHeader({ typ: 'at+jwt' }),
    'typ application/at+jwt': withHeader({ typ: 'application/at+jwt' }),
    'typ logout+jwt': withHeader({ typ: 'logout+jwt' }),
    'typ that is a list': withHeader({ typ: ['JWT'] }),
    'a nested assertion': forge({ ...header, cty: 'JWT' }, good),
    'a nested content type around good claims': withHeader({ cty: 'JWT' }),
    // Another token in its place.
    'an access token of ours': ours.forge(ours.header, ours.claims),
    'an access token of ours without its typ': ours.forge({ ...ours.header, typ: 'JWT' }, ours.claims),
    'a refresh cookie of ours': `01936f2e-8b6a-7c3d-9e4f-0123456789ab.1.${'A'.repeat(43)}`,
    'a logout token': withClaims({ events: { 'http://schemas.openid.net/event/backchannel-logout': {} } }),
    'an access token of Keycloak': withClaims({ typ: 'Bearer' }),
    'a refresh token of Keycloak': withClaims({ typ: 'Refresh' }),
    // Issuer and audience.
    'no issuer': without('iss'),
    'another issuer': withClaims({ iss: 'https://evil.example.com' }),
    'the issuer with a slash': withClaims({ iss: `${claims.iss}/` }),
    'the issuer in upper case': withClaims({ iss: claims.iss.toUpperCase() }),
    'the issuer in a list': withClaims({ iss: [claims.iss] }),
    'no audience': without('aud'),
    'another audience': withClaims({ aud: 'other' }),
    'an audience that begins like ours': withClaims({ aud: 'postern2' }),
    'an audience that contains ours': withClaims({ aud: 'other postern' }),
    'no audience in the list': withClaims({ aud: [] }),
    'several audiences without azp': withClaims({ aud: ['postern', 'other'] }),
    'an audience that is no text beside ours': withClaims({ aud: ['postern', 1], azp: 'postern' }),
    'an audience that is an object': withClaims({ aud: { postern: true } }),
    'azp of another': withClaims({ azp: 'other' }),
    'azp null': withClaims({ azp: null }),
    'azp in a list': withClaims({ azp: ['postern'] }),
    // Times.
    'no expiry': without('exp'),
    'an expiry long over': withClaims({ iat: claims.iat - 900, exp: claims.iat - 300 }),
    'an expiry that is a text': withClaims({ exp: String(claims.iat + 300) }),
    'an expiry that is null': withClaims({ exp: null }),
    'an expiry beyond all dates': withClaims({ exp: 1e300 }),
    'an expiry in milliseconds past all dates': withClaims({ exp: 8_640_000_000_001 }),
    'an infinite expiry': forge(header, json.replace(/"exp":\d+/, '"exp":1e999')),
    'a negative expiry': withClaims({ exp: -1 }),
    'no time of issue': without('iat'),
    'issued before the epoch': withClaims({ iat: -1 }),
    'issued in an hour': withClaims({ iat: claims.iat + 3600, exp: claims.iat + 7200 }),
    'a time of issue that is a text': withClaims({ iat: String(claims.iat) }),
    'expired before it was issued': withClaims({ iat: claims.iat + 30, exp: claims.iat + 20 }),
    'expired as it was issued': withClaims({ exp: claims.iat }),
    'not valid before an hour': withClaims({ nbf: claims.iat + 3600 }),
    'nbf that is null': withClaims({ nbf: null }),
    'nbf that is a text': withClaims({ nbf: '0' }),
    // Subject and the rest.
    'no subject': without('sub'),
    'an empty subject': withClaims({ sub: '' }),
    'a blank subject': withClaims({ sub: '  ' }),
    'a subject that is a number': withClaims({ sub: 1 }),
    'a subject too long': withClaims({ sub: 's'.repeat(256) }),
    'a subject with a NUL': withClaims({ sub: 'alice\0admin' }),
    'a subject with half a surrogate pair': withClaims({ sub: 'a\ud800' }),
    'a nonce that is a list': withClaims({ nonce: ['n'] }),
    'a nonce that is null': withClaims({ nonce: null }),
    'a jti that is a number': withClaims({ jti: 1 }),
  };
}

/** What only the keys can tell: `es256` and `rs256` are the provider's. */
export function refusedByKey(claims: GoodClaims): Record<string, string> {
  const { good, goodHeader, goodPayload, goodSignature, withHeader } = partsOf(claims);
  const derSignature = sign('sha256', Buffer.from(`${goodHeader}.${goodPayload}`), es256.privateKey);
  const foreignJwk = foreign.publicKey.export({ format: 'jwk' });
  return {
    'the payload of another assertion': `${goodHeader}.${encode(JSON.stringify({ ...claims, sub: 'bob' }))}.${goodSignature}`,
    'the header of another assertion': `${encode(JSON.stringify({ ...header, x: 1 }))}.${goodPayload}.${goodSignature}`,
    'half a signature': good.slice(0, -43),
    'a signature in DER': `${goodHeader}.${goodPayload}.${encode(derSignature)}`,
    'a signature of zeros': `${goodHeader}.${goodPayload}.${encode(Buffer.alloc(64))}`,
    'another key under the same kid': forge(header, claims, foreign),
    'a kid that is unknown': withHeader({ kid: 'e9' }),
    'a kid that is empty': withHeader({ kid: '' }),
    'a kid that is a path': withHeader({ kid: '../../dev/null' }),
    'a kid that is SQL': withHeader({ kid: "' OR 1=1 --" }),
    'a kid that every object has': withHeader({ kid: '__proto__' }),
    'the kid of a key of another type': withHeader({ kid: 'r1' }),
    'ES256 said of an RSA signature': forge({ alg: 'ES256', kid: 'r1' }, claims, rs256),
    'RS256 said of an ECDSA signature': forge({ alg: 'RS256', kid: 'r1' }, claims),
    'PS256 said of a PKCS #1 signature': forge({ alg: 'PS256', kid: 'r1' }, claims, rs256),
    'its own key in the header': forge({ ...header, jwk: foreignJwk }, claims, foreign),
    'its own key in the header without kid': forge({ alg: 'ES256', jwk: foreignJwk }, claims, foreign),
    'its own key set by address': forge({ ...header, jku: 'https://evil.example.com/jwks' }, claims, foreign),
    'its own certificate by address': forge(
      { ...header, x5u: 'https://evil.example.com/x' },
      claims,
      foreign,
    ),
    'its own certificate': forge({ ...header, x5c: ['MIIB'] }, claims, foreign),
  };
}
