import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import type { Records, SigningKey } from '../stores/records.ts';

/** Generates a signing key; its kid is the RFC 7638 thumbprint. `now` is epoch ms. */
export async function generateSigningKey(
  algorithm: SigningKey['algorithm'],
  now: number,
): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = await exportJWK(privateKey);
  return {
    kid: await calculateJwkThumbprint(jwk),
    algorithm,
    privateJwk: JSON.stringify(jwk),
    created: now,
  };
}

/**
 * All signing keys of the store, newest first, at least one of them of `algorithm`: it is generated if there is none.
 * If several processes start at once, the store keeps the key of one of them. `now` is epoch ms.
 */
export async function loadSigningKeys(
  records: Pick<Records, 'signingKeys' | 'addSigningKey'>,
  algorithm: SigningKey['algorithm'],
  now: number,
): Promise<readonly SigningKey[]> {
  const keys = await records.signingKeys();
  if (keys.some((key) => key.algorithm === algorithm)) return keys;
  return records.addSigningKey(await generateSigningKey(algorithm, now));
}
