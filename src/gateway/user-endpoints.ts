import { randomBytes } from 'node:crypto';
import type { Config } from '../config/sections/schema.ts';
import type { Cursors } from '../credentials/cursor.ts';
import { createLoginThrottle } from '../credentials/throttle.ts';
import { createUserApiKeyCreate } from '../endpoints/api-keys/create.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { createUserCreate } from '../endpoints/users/create.ts';
import {
  createUserIdentityLink,
  createUserIdentityList,
  createUserIdentityUnlink,
} from '../endpoints/users/identities.ts';
import { createUserInvite } from '../endpoints/users/invite.ts';
import { createUserPatch } from '../endpoints/users/patch.ts';
import { createUserFilters, createUserList, createUserRead } from '../endpoints/users/read.ts';
import { createUserRemove } from '../endpoints/users/remove.ts';
import { createUserThrottleLift, createUserThrottleRead } from '../endpoints/users/throttle.ts';
import type { UserChangeOptions } from '../endpoints/users/user-changes.ts';
import type { AdministrationParts } from './administration-parts.ts';
import { apiKeyCreateOptions } from './api-key-options.ts';
import { loginLimits } from './login-limits.ts';

/** The endpoints by which users are administered. */
export function userEndpoints(config: Config, parts: AdministrationParts, cursors: Cursors): Endpoint[] {
  const { records, sessions } = parts.stores;
  const options: UserChangeOptions = {
    ...parts,
    records,
    sessions,
    minPasswordLength: config.passwords.min_length,
    providerOf: (issuer) => providerOf(config, issuer),
  };
  const identityOptions = { ...options, records, issuers: issuersOf(config) };
  const throttle = createLoginThrottle(parts.stores.attempts, loginLimits(config));
  return [
    createUserList({ ...options, records, cursors }),
    createUserFilters(),
    createUserRead({ ...options, records }),
    createUserCreate(options),
    createUserPatch(options),
    createUserRemove(options),
    createUserIdentityList(identityOptions),
    createUserIdentityLink(identityOptions),
    createUserIdentityUnlink(identityOptions),
    createUserThrottleRead({ ...options, records, throttle }),
    createUserThrottleLift({ ...options, records, throttle }),
    createUserApiKeyCreate(apiKeyCreateOptions(config, parts)),
    createUserInvite({ ...options, records, random: randomBytes }),
  ];
}

/** The name of the provider with that issuer; null: none is configured. */
export function providerOf({ identity_providers: providers }: Config, issuer: string): string | null {
  const found = Object.entries(providers).find(([, provider]) => provider.issuer === issuer);
  return found?.[0] ?? null;
}

function issuersOf({ identity_providers: providers }: Config): ReadonlyMap<string, string> {
  return new Map(Object.entries(providers).map(([name, { issuer }]) => [name, issuer]));
}
