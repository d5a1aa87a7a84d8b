import type { Config } from '../config/sections/schema.ts';
import { createAddressThrottle } from '../credentials/throttle.ts';
import { createBootstrap } from '../endpoints/bootstrap.ts';
import type { AnyEndpoint } from '../endpoints/endpoint.ts';
import { createRedeemInvitation } from '../endpoints/redeem-invitation.ts';
import type { AdministrationParts } from './administration-parts.ts';
import { loginLimits } from './login-limits.ts';

/** The endpoints that take a token of their own in place of a credential. */
export function tokenEndpoints(config: Config, parts: AdministrationParts): AnyEndpoint[] {
  const { records, sessions, attempts } = parts.stores;
  const common = { ...parts, records, sessions, minPasswordLength: config.passwords.min_length };
  const limits = loginLimits(config);
  const bootstrap = () =>
    createBootstrap({
      ...common,
      configuredToken: config.bootstrap.token ?? null,
      throttle: createAddressThrottle('bootstrap', attempts, limits),
    });
  const invitation = () =>
    createRedeemInvitation({ ...common, throttle: createAddressThrottle('invitation', attempts, limits) });
  return [
    // Also where an upstream serves users: the command line invites, too.
    ...(config.endpoints.users === 'off' ? [] : [invitation()]),
    ...(config.endpoints.bootstrap === 'own' ? [bootstrap()] : []),
  ];
}
