import { createHmac } from 'node:crypto';
import { type AssertionKey, secretAssertionKey } from '../../../src/credentials/assertion.ts';
import type { Case } from './good-cases.ts';
import { encodedHeader, keys, publicKeyForms, strangeKeys } from './keys.ts';
import {
  caller,
  forged,
  forgedBeside,
  instant,
  laterHeaders,
  type SentRequest,
  sent,
  signed,
  tokenFor,
  withAssertion,
  withHeaders,
} from './request.ts';

const bad = (name: string, ...requests: SentRequest[]): Case => ({ name, requests, accepted: false });

const algorithms = ['EdDSA', 'ES256', 'HS256'] as const;
const base = sent();
const token = tokenFor({});
const [header, payload, signature] = token.split('.') as [string, string, string];

/** With this text in the assertion's place. */
const instead = (name: string, text: string): Case => bad(name, withAssertion(base, text));
const extra = (...headers: [string, string][]) => withHeaders(base, {}, headers);

/** No signature at all. */
const unsigned = (alg: string): AssertionKey => ({
  encodedHeader: Buffer.from(JSON.stringify({ alg, kid: 'eddsa-1', typ: 'postern-assertion+jwt' })).toString(
    'base64url',
  ),
  sign: () => '',
});

const elsewhere: readonly Case[] = [
  ...[
    ['another path', '/api/store/assets/18?page=2'],
    ['a longer path', '/api/store/assets/17/?page=2'],
    ['the path in another case', '/api/store/Assets/17?page=2'],
    ['the path with an escape', '/api/store/assets/%317?page=2'],
    ['another query', '/api/store/assets/17?page=3'],
    ['the query in another order', '/api/store/assets/17?page=2&a=1'],
    ['no query', '/api/store/assets/17'],
    ['an empty query', '/api/store/assets/17?'],
    ['the path of a mount cut off', '/store/assets/17?page=2'],
    ['an absolute target', 'http://app.example/api/store/assets/17?page=2'],
  ].map(([name, target]) => bad(name!, { ...base, target: target! })),
  bad('a query where there was none', { ...sent({ target: '/api/x' }), target: '/api/x?a' }),
  bad('one question mark less', { ...sent({ target: '/api/x??' }), target: '/api/x?' }),
  ...['HEAD', 'POST', 'DELETE', 'get'].map((method) =>
    bad(`${method} with the assertion of a GET`, { ...base, method }),
  ),
  ...algorithms.map((algorithm) => ({
    ...bad(`another upstream, by ${algorithm}`, sent({ algorithm, audience: 'other' })),
    algorithm,
  })),
  bad('several audiences', forged({ aud: ['app', 'other'] })),
  bad('an audience in a list', forged({ aud: ['app'] })),
  bad('no audience', forged({ aud: undefined })),
  bad('another tenant', sent({ issuer: 'https://other.example.com' })),
  bad('an issuer with a slash', sent({ issuer: 'https://acme.example.com/' })),
  bad('no issuer', forged({ iss: undefined })),
];

const at = (name: string, now: number, request: SentRequest): Case => ({ ...bad(name, request), now });

const times: readonly Case[] = [
  ...algorithms.map((algorithm) => ({
    ...at(`36 seconds later, by ${algorithm}`, instant + 36, sent({ algorithm })),
    algorithm,
  })),
  at('35 seconds later', instant + 35, base),
  at('a day later', instant + 86_400, base),
  bad('signed by a clock 6 seconds ahead', sent({ signedAt: instant + 6 })),
  bad('no exp', forged({ exp: undefined })),
  bad('no iat', forged({ iat: undefined })),
  bad('exp as text', forged({ exp: String(instant + 30) })),
  bad('iat as text', forged({ iat: String(instant) })),
  ...['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'].map((method) =>
    bad(`${method}, replayed`, sent({ method }), sent({ method })),
  ),
  bad(
    'a POST replayed after another',
    sent({ method: 'POST' }),
    sent({ method: 'POST', jti: 'jti-2' }),
    sent({ method: 'POST' }),
  ),
  bad('no jti', forged({ jti: undefined })),
  bad('an empty jti', forged({ jti: '' })),
  bad('a number for a jti', forged({ jti: 1 }, { method: 'POST' })),
];

const changed: readonly (readonly [string, string])[] = [
  ['X-Auth-Subject', '019a0000-0000-7000-8000-000000000009'],
  ['X-Auth-Username', 'root'],
  ['X-Auth-Method', 'api_key'],
  ['X-Auth-Scopes', 'store:read store:write users:write'],
  ['X-Auth-Session-Id', '019a0000-0000-7000-8000-000000000009'],
  ['X-Auth-Tenant', 'other'],
];
const anonymous = sent({ principal: null });

const headers: readonly Case[] = [
  ...changed.flatMap(([name, value]) => [
    bad(`${name} changed`, withHeaders(base, { [name]: value })),
    bad(`${name} taken away`, withHeaders(base, { [name]: null })),
    bad(`${name} emptied`, withHeaders(base, { [name]: '' })),
    bad(`${name} there twice`, extra([name, value])),
    bad(`${name} without its claim`, withHeaders(anonymous, {}, [[name, value]])),
  ]),
  bad('the same X-Auth-Subject twice', extra(['X-Auth-Subject', caller().userId])),
  bad('a name in another case', withHeaders(base, { 'X-Auth-Username': 'Ada' })),
  bad('scopes in another order', withHeaders(base, { 'X-Auth-Scopes': 'store:write store:read' })),
  bad('X-Auth-Key-Id beside the session', extra(['X-Auth-Key-Id', caller().credentialId])),
  ...[
    'X_Auth_Subject',
    'X-Auth_Subject',
    'X.Auth.Subject',
    'x_auth_subject',
    'X-Auth-Session_Id',
    'X!Auth-Scopes',
    'X_Auth_Assertion',
  ].map((name) => bad(`${name} beside the right ones`, extra([name, 'admin']))),
  bad(
    'X_Auth_Subject in its place',
    withHeaders(base, { 'X-Auth-Subject': null }, [['X_Auth_Subject', caller().userId]]),
  ),
  bad('an X-Auth- header that Postern doesn’t send', extra(['X-Auth-Role', 'admin'])),
  bad('an empty X-Auth- header that Postern doesn’t send', extra(['X-Auth-Role', ''])),
  bad('sub as a number', withHeaders(forged({ sub: 7 }), { 'X-Auth-Subject': '7' })),
];

const later: readonly Case[] = [
  ...Object.entries(laterHeaders).flatMap(([claim, name]) => [
    bad(`${name} without its claim`, forgedBeside({}, [name, 'x'])),
    bad(`${name} unlike its claim`, forgedBeside({ [claim]: 'x' }, [name, 'y'])),
    bad(`${name} taken away`, forged({ [claim]: 'x' })),
    bad(`${name} emptied`, forgedBeside({ [claim]: 'x' }, [name, ''])),
    bad(`${name} there twice`, forgedBeside({ [claim]: 'x' }, [name, 'x'], [name, 'x'])),
    bad(`${name} spelled with _`, forgedBeside({ [claim]: 'x' }, [name.replaceAll('-', '_'), 'x'])),
    bad(
      `${name} beside a spelling with _`,
      forgedBeside({ [claim]: 'x' }, [name, 'x'], [name.replace(/-(?=[^-]*$)/, '_'), 'x']),
    ),
    bad(`${name} with a claim that is no text`, forgedBeside({ [claim]: true }, [name, 'true'])),
    bad(`an empty claim ${claim} without its header`, forged({ [claim]: '' })),
    bad(`a claim ${claim} of null without its header`, forged({ [claim]: null })),
  ]),
  bad(
    'a header that is not known yet, without its claim',
    forgedBeside({ team: 'x' }, ['X-Auth-Team-Name', 'x']),
  ),
  bad(
    'a header that is not known yet, unlike its claim',
    forgedBeside({ team_name: 'x' }, ['X-Auth-Team-Name', 'X']),
  ),
  bad('a header that is not known yet, empty', forgedBeside({ team_name: 'x' }, ['X-Auth-Team-Name', ''])),
  bad(
    'a header that is not known yet, twice',
    forgedBeside({ team: 'x' }, ['X-Auth-Team', 'x'], ['x-auth-team', 'x']),
  ),
  bad(
    'a header that is not known yet, spelled oddly',
    forgedBeside({ team_name: 'x' }, ['X-Auth-Team_Name', 'x']),
  ),
  bad('a claim that is a number', forgedBeside({ level: 2 }, ['X-Auth-Level', '2'])),
  bad('the time of the assertion as a header', forgedBeside({}, ['X-Auth-Iat', String(instant)])),
  bad(
    'a header with the name of the claim in place of the known one',
    withHeaders(base, { 'X-Auth-Subject': null }, [['X-Auth-Sub', caller().userId]]),
  ),
  bad('a header with the name of what every object has', forgedBeside({}, ['X-Auth-Constructor', ''])),
];

const tokens: readonly Case[] = [
  bad('no assertion', withHeaders(base, { 'X-Auth-Assertion': null })),
  bad('no assertion, and no identity', { ...base, headers: [] }),
  bad('the assertion twice', extra(['X-Auth-Assertion', token])),
  bad('a second assertion, of someone else', extra(['X-Auth-Assertion', tokenFor({ principal: null })])),
  bad(
    'the assertion in Authorization',
    withHeaders(base, { 'X-Auth-Assertion': null }, [['Authorization', `Bearer ${token}`]]),
  ),
  instead('an empty assertion', ''),
  instead('a word', 'assertion'),
  instead('two parts', `${header}.${payload}`),
  instead('four parts', `${token}.${signature}`),
  instead('three empty parts', '..'),
  instead('a scheme before it', `Bearer ${token}`),
  instead('a header that is no JSON', `${Buffer.from('{').toString('base64url')}.${payload}.${signature}`),
  instead('claims that are no JSON', `${header}.${Buffer.from('{').toString('base64url')}.${signature}`),
  instead('claims that are a list', signed([], {})),
  instead('claims that are a text', signed('sub', {})),
  instead('claims that are null', signed(null, {})),
  bad('no htm', forged({ htm: undefined })),
  bad('no htt', forged({ htt: undefined })),
  bad(
    'an htt in hexadecimal',
    forged({
      htt: Buffer.from(JSON.parse(Buffer.from(payload, 'base64url').toString()).htt, 'base64url').toString(
        'hex',
      ),
    }),
  ),
];

const keysAndKinds: readonly Case[] = [
  ...algorithms.map((algorithm) => ({
    ...bad(`another key, by ${algorithm}`, sent({ algorithm, key: strangeKeys[algorithm] })),
    algorithm,
  })),
  ...['none', 'None', 'NONE', ''].map((alg) =>
    bad(`alg ${JSON.stringify(alg)}`, sent({ key: unsigned(alg) })),
  ),
  instead('no signature', `${header}.${payload}.`),
  instead('a signature cut short', `${header}.${payload}.${signature.slice(0, -4)}`),
  instead(
    'a signature changed',
    `${header}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
  ),
  instead(
    'claims of another assertion under the signature',
    `${header}.${tokenFor({ principal: null }).split('.')[1]}.${signature}`,
  ),
  instead('the header of another algorithm', `${keys.ES256.encodedHeader}.${payload}.${signature}`),
  ...Object.entries(publicKeyForms).map(([form, bytes]) =>
    bad(`HS256 with the public key ${form}`, sent({ key: secretAssertionKey(bytes) })),
  ),
  ...Object.entries(publicKeyForms).map(([form, bytes]) =>
    bad(
      `EdDSA in name, HMAC with the public key ${form}`,
      sent({
        key: {
          encodedHeader: keys.EdDSA.encodedHeader,
          sign: (text) => createHmac('sha256', bytes).update(text).digest('base64url'),
        },
      }),
    ),
  ),
  bad('ES256 where EdDSA is expected', sent({ algorithm: 'ES256' })),
  bad('HS256 where EdDSA is expected', sent({ algorithm: 'HS256' })),
  { ...bad('EdDSA where ES256 is expected', sent()), algorithm: 'ES256' },
  { ...bad('EdDSA where HS256 is expected', sent()), algorithm: 'HS256' },
  {
    ...bad(
      'the kid of another algorithm',
      sent({
        algorithm: 'ES256',
        key: { ...keys.ES256, encodedHeader: encodedHeader('ES256', 'eddsa-1') },
      }),
    ),
    algorithm: 'ES256',
  },
  bad('an unknown kid', forged({}, { header: { kid: 'eddsa-9' } })),
  bad('no kid', forged({}, { header: { kid: undefined } })),
  bad('a critical extension', forged({}, { header: { crit: ['exp'], exp: 1 } })),
  bad('a key in the header', forged({}, { header: { kid: undefined, jwk: { kty: 'oct', k: 'AA' } } })),
  ...['at+jwt', 'JWT', 'application/postern-assertion+jwt', 'postern-assertion', undefined].map((typ) =>
    bad(`typ ${typ ?? 'left out'}`, forged({}, { header: { typ } })),
  ),
  bad(
    'an access token in its place',
    withAssertion(
      base,
      signed(
        {
          iss: 'https://acme.example.com',
          aud: 'https://acme.example.com',
          sub: caller().userId,
          sid: caller().credentialId,
          scope: 'store:read store:write',
          iat: instant,
          exp: instant + 600,
          jti: 'jti-1',
          client_id: 'postern',
        },
        { header: { typ: 'at+jwt' } },
      ),
    ),
  ),
];

/** What every verifier refuses. */
export const badCases: readonly Case[] = [
  ...elsewhere,
  ...times,
  ...headers,
  ...later,
  ...tokens,
  ...keysAndKinds,
];
