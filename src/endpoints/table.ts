import { bootstrap } from './bootstrap.ts';
import type { AnyDefinition } from './endpoint.ts';
import { assertionJwks, jwks } from './jwks.ts';
import { login } from './login.ts';
import { logout } from './logout.ts';
import { redeemInvitation } from './redeem-invitation.ts';
import { refresh } from './refresh.ts';
import { selfPassword } from './self-password.ts';

/** Endpoints that obtain, renew and give up credentials, in the order of the OpenAPI document. */
export const credentialEndpoints: readonly AnyDefinition[] = [
  login,
  refresh,
  logout,
  jwks,
  assertionJwks,
  redeemInvitation,
  bootstrap,
];

/** Endpoints that administer what there is, in the order of the OpenAPI document. */
export const administrationEndpoints: readonly AnyDefinition[] = [selfPassword];
