import { apiKeysCreate, apiKeysDelete, usersCreateKey } from './api-keys/change.ts';
import { apiKeysRoutes, apiKeysScopes } from './api-keys/offered.ts';
import { apiKeysFilters, apiKeysList, apiKeysRead } from './api-keys/read.ts';
import { auditFilters, auditList, auditRead } from './audit-events.ts';
import { bootstrap } from './bootstrap.ts';
import type { AnyDefinition } from './endpoint.ts';
import { assertionJwks, jwks } from './jwks.ts';
import { login } from './login.ts';
import { logout } from './logout.ts';
import { redeemInvitation } from './redeem-invitation.ts';
import { refresh } from './refresh.ts';
import {
  scopeSetsChange,
  scopeSetsCreate,
  scopeSetsDelete,
  scopeSetsFilters,
  scopeSetsList,
  scopeSetsRead,
} from './scope-sets.ts';
import { selfRead } from './self.ts';
import { selfPassword } from './self-password.ts';
import {
  sessionsDelete,
  sessionsDeleteAll,
  sessionsDeleteOthers,
  sessionsDeleteOwn,
  sessionsFilters,
  sessionsFiltersOwn,
  sessionsList,
  sessionsListOwn,
  sessionsRead,
} from './sessions/sessions.ts';
import { usersChange, usersCreate, usersDelete } from './users/change.ts';
import { usersFilters, usersList, usersRead } from './users/read.ts';
import {
  usersIdentities,
  usersInvite,
  usersLink,
  usersThrottle,
  usersUnlink,
  usersUnlock,
} from './users/sign-in.ts';

/** Endpoints that obtain, renew, show and give up credentials, in the order of the OpenAPI document. */
export const credentialEndpoints: readonly AnyDefinition[] = [
  login,
  refresh,
  selfRead,
  logout,
  jwks,
  assertionJwks,
  redeemInvitation,
  bootstrap,
];

/** Endpoints that administer keys, sessions, users, scope sets and audit events, in the order of the OpenAPI document. */
export const administrationEndpoints: readonly AnyDefinition[] = [
  apiKeysList,
  apiKeysCreate,
  apiKeysFilters,
  apiKeysScopes,
  apiKeysRoutes,
  apiKeysRead,
  apiKeysDelete,
  sessionsListOwn,
  sessionsDeleteOthers,
  selfPassword,
  sessionsFiltersOwn,
  sessionsDeleteOwn,
  sessionsList,
  sessionsDeleteAll,
  sessionsFilters,
  sessionsRead,
  sessionsDelete,
  usersList,
  usersCreate,
  usersFilters,
  usersRead,
  usersChange,
  usersDelete,
  usersIdentities,
  usersLink,
  usersUnlink,
  usersThrottle,
  usersUnlock,
  usersCreateKey,
  usersInvite,
  scopeSetsList,
  scopeSetsCreate,
  scopeSetsFilters,
  scopeSetsRead,
  scopeSetsChange,
  scopeSetsDelete,
  auditList,
  auditFilters,
  auditRead,
];
