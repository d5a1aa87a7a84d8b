import { randomBytes } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import { uuidv7 } from 'uuidv7';
import type { KeySeries, NewSigningKey } from '../stores/signing-key.ts';

const secretBytes = 32;

/**
 * Generates a key of a series. The kid of a key pair is the RFC 7638 thumbprint; that of a secret, which is never
 * published, says nothing about it.
 */
export async function generateSigningKey(series: KeySeries): Promise<NewSigningKey> {
  const { purpose, algorithm } = series;
  if (algorithm === 'HS256') {
    const k = randomBytes(secretBytes).toString('base64url');
    return { purpose, algorithm, kid: uuidv7(), privateJwk: JSON.stringify({ kty: 'oct', k }) };
  }
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = await exportJWK(privateKey);
  return { purpose, algorithm, kid: await calculateJwkThumbprint(jwk), privateJwk: JSON.stringify(jwk) };
}
