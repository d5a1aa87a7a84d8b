// Verifies that a request comes from Postern, and from whom: docs/upstreams.md. Node 20 or later, no dependencies.
import { createHash, createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto';

/** The claims that repeat headers, three under another name; those of `later` come with a later Postern, or others. */
const repeated = ['sub', 'username', 'method', 'scope', 'sid', 'key_id', 'tenant'];
const later = ['client_id', 'issuer', 'delegated', 'assurance'];
const renamed = { sub: 'subject', scope: 'scopes', sid: 'session-id' };
const headerOf = (claim) => `x-auth-${renamed[claim] ?? claim.replaceAll('_', '-')}`;
const mayRepeat = new Set(['GET', 'HEAD', 'OPTIONS']);
const leewaySeconds = 5;
const [keysMaxAgeMs, keysPauseMs] = [300_000, 10_000];

/**
 * Creates `verify(request)` for requests as node:http has them (`method`, `rawHeaders`, and `originalUrl`, which Express
 * adds, or `url`): it gives the claims, or rejects. `issuer` is Postern's base_url, `audience` the name of this upstream;
 * `secret` (a Buffer) is for HS256, `loadKeys` gives the JWK set otherwise: see `keysFrom`. `now` is the clock in ms.
 */
export function createVerifier({ issuer, audience, algorithm, secret, loadKeys, now = Date.now }) {
  const used = new Map();
  const isSigned = algorithm === 'HS256' ? bySecret(secret) : byKeys(algorithm, loadKeys, now);

  return async function verifyRequest(request) {
    const headers = identityHeaders(request.rawHeaders);
    const parts = (headers.get('x-auth-assertion') ?? '').split('.');
    headers.delete('x-auth-assertion');
    must(parts.length === 3, 'one assertion of three parts');
    const [header, claims] = [parse(parts[0]), parse(parts[1])];
    must(header.alg === algorithm && header.typ === 'postern-assertion+jwt' && !header.crit, 'alg or typ');
    const [text, signature] = [Buffer.from(`${parts[0]}.${parts[1]}`), Buffer.from(parts[2], 'base64url')];
    must(await isSigned(header, text, signature), 'signature');

    must(claims.iss === issuer && claims.aud === audience, 'iss or aud');
    must(Number.isFinite(claims.iat) && Number.isFinite(claims.exp), 'iat or exp');
    const instant = now() / 1000;
    must(claims.iat <= instant + leewaySeconds && instant < claims.exp + leewaySeconds, 'time');
    const { method, url, originalUrl = url } = request;
    must(claims.htm === method && claims.htt === hashOf(originalUrl), 'htm or htt');
    for (const claim of later) must(claims[claim] === undefined || headers.has(headerOf(claim)), claim);
    for (const claim of repeated) {
      const value = headers.get(headerOf(claim)) ?? '';
      headers.delete(headerOf(claim));
      // It is signed for callers without a credential, too, who have no identity headers.
      if (claim === 'tenant' && value === '' && claims.sub === undefined) continue;
      must(value === (claims[claim] ?? ''), claim);
    }
    for (const [name, value] of headers) {
      const claim = name.slice(7).replaceAll('-', '_');
      must(value === (claims[claim] ?? (later.includes(claim) ? '' : undefined)), name);
    }
    must(typeof claims.jti === 'string' && claims.jti !== '', 'jti');
    if (!mayRepeat.has(method)) useOnce(claims);
    return claims;
  };

  /** Known to this process alone: several that share the load need a store that they share. */
  function useOnce({ jti, exp }) {
    for (const [id, end] of used) {
      if (end > now() / 1000) break;
      used.delete(id);
    }
    must(!used.has(jti), 'used before');
    used.set(jti, exp + leewaySeconds);
  }
}

/** Every header that any server could take for one of Postern's, each once and spelt as Postern does. */
function identityHeaders(raw) {
  const found = new Map();
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i].toLowerCase();
    if (!name.replace(/[^a-z0-9]/g, '-').startsWith('x-auth-')) continue;
    must(/^[a-z0-9-]+$/.test(name) && !found.has(name), 'an X-Auth- header');
    found.set(name, raw[i + 1]);
  }
  return found;
}

function hashOf(target) {
  const path = target.indexOf('?') === target.length - 1 ? target.slice(0, -1) : target;
  return createHash('sha256').update(path, 'latin1').digest('base64url');
}

function bySecret(secret) {
  return (_header, text, signature) => {
    const expected = createHmac('sha256', secret).update(text).digest();
    return signature.length === expected.length && timingSafeEqual(signature, expected);
  };
}

/** By published keys, a copy of which counts for five minutes; for a `kid` that isn't among them they are read again. */
function byKeys(algorithm, loadKeys, now) {
  let [keys, loadedAt] = [new Map(), Number.NEGATIVE_INFINITY];
  return async ({ kid }, text, signature) => {
    const age = now() - loadedAt;
    if (age >= keysMaxAgeMs || (age >= keysPauseMs && !keys.has(kid))) {
      const usable = (await loadKeys()).keys.filter((jwk) => jwk.alg === algorithm);
      keys = new Map(usable.map((jwk) => [jwk.kid, createPublicKey({ key: jwk, format: 'jwk' })]));
      loadedAt = now();
    }
    const key = keys.get(kid);
    if (key === undefined) return false;
    const digest = algorithm === 'EdDSA' ? null : 'sha256';
    return verify(digest, text, { key, dsaEncoding: 'ieee-p1363' }, signature);
  };
}

/** A `loadKeys`: `<Postern>/.well-known/postern-assertion-jwks.json`, by a way on which no one can change it. */
export const keysFrom = (url) => async () =>
  (await fetch(url, { signal: AbortSignal.timeout(5_000) })).json();

function parse(text) {
  const value = JSON.parse(Buffer.from(text, 'base64url').toString());
  must(typeof value === 'object' && value !== null, 'an object');
  return value;
}

function must(isSo, what) {
  if (!isSo) throw new Error(`not from Postern: ${what}`);
}
