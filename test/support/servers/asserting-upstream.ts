import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLocalJWKSet, type JWTPayload, jwtVerify } from 'jose';
// @ts-expect-error: plain JavaScript, as services copy it.
import { createVerifier } from '../../../examples/verify-assertion/node/verify-assertion.js';
import type { ApiClient } from '../clients/api-client.ts';
import { makeTemporaryFolder } from '../temporary-folder.ts';
import type { SeenRequest } from './recording-upstream.ts';

/** How an upstream is proved to that it hears from Postern, in the three ways. */
export const algorithms = ['EdDSA', 'ES256', 'HS256'] as const;
export type Algorithm = (typeof algorithms)[number];

export const assertionKeysPath = '/.well-known/postern-assertion-jwks.json';
const issuer = 'https://acme.example.com';

/** A secret of HS256, with the file that it is in. */
export function makeSecret(secret: Buffer = randomBytes(48)): {
  readonly secret: Buffer;
  readonly file: string;
} {
  const file = join(makeTemporaryFolder('postern-secret-'), 'secret');
  // A byte more, which is dropped, so that the secret may end in one.
  writeFileSync(file, Buffer.concat([secret, Buffer.from('\n')]));
  return { secret, file };
}

/** The `assertion` of an upstream. */
export function assertionSettings(algorithm: Algorithm, secretFile: string, more: object = {}): object {
  return { algorithm, ...(algorithm === 'HS256' && { secret: { file: secretFile } }), ...more };
}

/** What a service is told to verify by. */
export interface Verification {
  readonly algorithm: Algorithm;
  readonly audience?: string;
  readonly secret: Buffer;
  readonly api: Pick<ApiClient, 'send'>;
  readonly now?: () => number;
}

/** Verifies as our example for services in Node does: gives the claims, or rejects. */
export function exampleVerifier({
  algorithm,
  audience = 'app',
  secret,
  api,
  now = Date.now,
}: Verification): (request: SeenRequest) => Promise<JWTPayload> {
  const verify = createVerifier({
    issuer,
    audience,
    algorithm,
    secret,
    loadKeys: async () => (await api.send({ path: assertionKeysPath })).json,
    now,
  });
  return ({ method, target, rawHeaders }) => verify({ method, url: target, rawHeaders });
}

/** Verifies with jose what any library does: signature, `typ`, `iss`, `aud`, times. */
export async function verifyWithJose(
  token: string,
  { algorithm, audience = 'app', secret, api, now = Date.now }: Verification,
): Promise<JWTPayload> {
  const options = {
    algorithms: [algorithm],
    typ: 'postern-assertion+jwt',
    issuer,
    audience,
    clockTolerance: 5,
    currentDate: new Date(now()),
  };
  if (algorithm === 'HS256') return (await jwtVerify(token, secret, options)).payload;
  const keys = createLocalJWKSet((await api.send({ path: assertionKeysPath })).json);
  return (await jwtVerify(token, keys, options)).payload;
}
