import { apiKeysCreate, usersCreateKey } from './api-keys/create.ts';
import { apiKeysDelete } from './api-keys/delete.ts';
import { apiKeysFilters, apiKeysList } from './api-keys/list.ts';
import { apiKeysRead, apiKeysScopes } from './api-keys/read.ts';
import { auditFilters, auditList, auditRead } from './audit-events.ts';
import { bootstrap } from './bootstrap.ts';
import type { AnyDefinition } from './endpoint.ts';
import { assertionJwks, jwks } from './jwks.ts';
import { login } from './login.ts';
import { logout } from './logout.ts';
import { redeemInvitation } from './redeem-invitation.ts';
import { refresh } from './refresh.ts';
import { scopeSetsChange, scopeSetsCreate, scopeSetsDelete } from './scope-sets/change.ts';
import { scopeSetsFilters, scopeSetsList, scopeSetsRead } from './scope-sets/read.ts';
import { selfPassword } from './self-password.ts';
import {
  sessionsDelete,
  sessionsDeleteAll,
  sessionsFilters,
  sessionsList,
  sessionsRead,
} from './sessions/administer.ts';
import {
  sessionsDeleteOthers,
  sessionsDeleteOwn,
  sessionsFiltersOwn,
  sessionsListOwn,
} from './sessions/own.ts';
import { usersCreate } from './users/create.ts';
import { usersIdentities, usersLink, usersUnlink } from './users/identities.ts';
import { usersInvite } from './users/invite.ts';
import { usersChange } from './users/patch.ts';
import { usersFilters, usersList, usersRead } from './users/read.ts';
import { usersDelete } from './users/remove.ts';
import { usersThrottle, usersUnlock } from './users/throttle.ts';

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
export const administrationEndpoints: readonly AnyDefinition[] = [
  apiKeysList,
  apiKeysCreate,
  apiKeysFilters,
  apiKeysScopes,
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
