import { createHmac, createPublicKey, sign } from 'node:crypto';
import type { NewSigningKey } from '../../../src/stores/signing-keys.ts';
import { type CorpusRow, expand } from './corpus.ts';
import { encode, foreign, privateKeyOf, publicKeyOf, withSpareBits } from './forged-tokens.ts';

/** A row of the token corpus: how the token differs from a valid one, as README.md there describes. */
export interface TokenRow extends CorpusRow {
  readonly header?: object | string;
  readonly claims?: object | string;
  readonly sign?: string;
  readonly wrap?: string;
}

/** What tokens are forged from. */
export interface TokenForge {
  /** The token of the row. */
  tokenOf(row: TokenRow): string;
}

/** Creates the forge: `good` is a token that the gateway made, `own` the key it signed with. */
export function createTokenForge(good: string, own: NewSigningKey, issuer: string): TokenForge {
  const [goodHeader, goodClaims] = good.split('.').map((part) => Buffer.from(part, 'base64url').toString());
  const header: object = JSON.parse(goodHeader!);
  const claims: Record<string, any> = JSON.parse(goodClaims!);
  const publicKey = createPublicKey(privateKeyOf(own));
  const jwk = publicKey.export({ format: 'jwk' });
  const pem = publicKey.export({ format: 'pem', type: 'spki' }) as string;
  const published = { ...jwk, use: 'sig', alg: own.algorithm, kid: own.kid };
  const secrets: Record<string, string | Buffer> = {
    'hmac-pem': pem,
    'hmac-pem-trimmed': pem.trimEnd(),
    'hmac-der': publicKey.export({ format: 'der', type: 'spki' }),
    'hmac-jwk': JSON.stringify(jwk),
    'hmac-jwks': JSON.stringify({ keys: [published] }),
    'hmac-x': Buffer.from(jwk.x!, 'base64url'),
    'hmac-kid': own.kid,
    'hmac-issuer': issuer,
    'hmac-empty': '',
    'hmac-secret': 'secret',
  };
  const texts: Record<string, string> = {
    kid: own.kid,
    'foreign-kid': foreign.kid,
    sid: claims.sid,
    host: 'gateway.example',
    'claims-exp:1e999': goodClaims!.replace(/"exp":\d+/, '"exp":1e999'),
    'claims-exp:9e9': goodClaims!.replace(/"exp":\d+/, '"exp":9e9'),
    'claims-twice-first': goodClaims!.replace('{', '{"sub":"x",'),
    'claims-twice-last': goodClaims!.replace(/\}$/, `,"sub":"${claims.sub}"}`),
    'claims-proto': `{"__proto__":${goodClaims}}`,
  };
  const objects: Record<string, unknown> = {
    '{{null}}': null,
    '{{jwk}}': jwk,
    '{{foreign-jwk}}': publicKeyOf(foreign).export({ format: 'jwk' }),
  };

  /** Replaces placeholders: times become numbers, keys objects. */
  function resolved(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(resolved);
    if (typeof value !== 'string') return value;
    if (value in objects) return objects[value];
    const [, offset] = /^\{\{now([+-]\d+)\}\}$/.exec(value) ?? [];
    return offset === undefined ? expand(value, texts) : Math.floor(Date.now() / 1000) + Number(offset);
  }

  /** The valid JSON with changes; null removes a member. A string replaces all of it. */
  function jsonOf(base: object, changes: object | string): string {
    if (typeof changes === 'string') return expand(changes, texts);
    const merged: Record<string, unknown> = { ...base };
    for (const [name, value] of Object.entries(changes))
      if (value === null) delete merged[name];
      else merged[name] = resolved(value);
    return JSON.stringify(merged);
  }

  function signatureOf(input: string, how: string): string {
    const bytes = Buffer.from(input);
    const secret = secrets[how];
    if (secret !== undefined) return createHmac('sha256', secret).update(input).digest('base64url');
    switch (how) {
      case 'own':
      case 'foreign': {
        const key = privateKeyOf(how === 'own' ? own : foreign);
        return encode(sign('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' }));
      }
      case 'der':
        return encode(sign('sha256', bytes, privateKeyOf(own)));
      case 'der-zeros':
        return encode(Buffer.from([0x30, 6, 2, 1, 0, 2, 1, 0]));
      case 'zeros':
        return encode(Buffer.alloc(64));
      case 'kept':
        return good.split('.')[2]!;
      case 'none':
        return '';
      default:
        throw new Error(`no way to sign: ${how}`);
    }
  }

  function tokenOf(row: TokenRow): string {
    const h = encode(jsonOf(header, row.header ?? {}));
    const p = encode(jsonOf(claims, row.claims ?? {}));
    const s = signatureOf(`${h}.${p}`, row.sign ?? 'own');
    if (row.wrap === undefined) return `${h}.${p}.${s}`;
    const nested = encode(good);
    return expand(row.wrap, {
      h,
      p,
      s,
      'p-other': encode(jsonOf(claims, { jti: 'x' })),
      's-cut': s.slice(0, -1),
      's-half': s.slice(0, 43),
      's-spare': withSpareBits(s),
      's-plain': Buffer.from(s, 'base64url').toString('base64'),
      's-blank': `${s.slice(0, 8)} ${s.slice(8)}`,
      nested: `${h}.${nested}.${signatureOf(`${h}.${nested}`, 'own')}`,
    });
  }

  return { tokenOf };
}
