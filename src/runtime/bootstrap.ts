import { randomBytes } from 'node:crypto';
import type { Config } from '../config/sections/schema.ts';
import type { Records } from '../stores/records.ts';

const tokenBytes = 24;

/** A new activation token: 192 random bits in base64url. */
export function newBootstrapToken(): string {
  return randomBytes(tokenBytes).toString('base64url');
}

/**
 * Creates an activation token if one is needed. Resolves to the stored token; null if there is none, if there is an administrator
 * already, or if Postern doesn't serve the endpoint itself.
 */
export async function openBootstrap(
  records: Pick<Records, 'bootstrap' | 'setBootstrapToken'>,
  { bootstrap, endpoints }: Config,
): Promise<string | null> {
  const state = await records.bootstrap();
  const needsToken = state.open && state.token === null && bootstrap.token === undefined;
  const { open, token } = needsToken
    ? await records.setBootstrapToken(newBootstrapToken(), { reset: false })
    : state;
  return open && endpoints.bootstrap === 'own' ? token : null;
}
