import { createApiKeyCreate, createUserApiKeyCreate } from '../endpoints/api-keys/create.ts';
import { createApiKeyDelete } from '../endpoints/api-keys/delete.ts';
import { createApiKeyFilters, createApiKeyScopes } from '../endpoints/api-keys/describe.ts';
import { createApiKeyList } from '../endpoints/api-keys/list.ts';
import { createApiKeyRead } from '../endpoints/api-keys/read.ts';
import { createAuditFilters, createAuditList } from '../endpoints/audit-events/list.ts';
import { createAuditRead } from '../endpoints/audit-events/read.ts';
import type { AnyEndpoint } from '../endpoints/endpoint.ts';
import type { EndpointParts } from '../endpoints/endpoint-parts.ts';
import {
  createScopeSetCreate,
  createScopeSetDelete,
  createScopeSetPatch,
} from '../endpoints/scope-sets/change.ts';
import {
  createScopeSetFilters,
  createScopeSetList,
  createScopeSetRead,
} from '../endpoints/scope-sets/read.ts';
import {
  createSessionDelete,
  createSessionFilters,
  createSessionList,
  createSessionRead,
  createSessionsDelete,
} from '../endpoints/sessions/administer.ts';
import {
  createOtherSessionsDelete,
  createOwnSessionDelete,
  createOwnSessionFilters,
  createOwnSessionList,
} from '../endpoints/sessions/own.ts';
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

/** Endpoints that are not in the table of definitions yet. */
export function otherEndpoints(parts: EndpointParts): readonly AnyEndpoint[] {
  const { records, cursors, catalogue, onCredentialEnded } = parts;
  return [
    createApiKeyList(parts),
    createApiKeyFilters(catalogue),
    createApiKeyScopes(catalogue),
    createApiKeyRead(parts),
    createApiKeyCreate(parts),
    createApiKeyDelete({ ...parts, onKeyDeleted: onCredentialEnded }),
    createOwnSessionList(parts, cursors),
    createOwnSessionFilters(),
    createOwnSessionDelete(parts),
    createOtherSessionsDelete(parts),
    createSessionList(parts, cursors),
    createSessionFilters(),
    createSessionRead(parts),
    createSessionDelete(parts),
    createSessionsDelete(parts),
    createScopeSetList(records, cursors, catalogue),
    createScopeSetFilters(catalogue),
    createScopeSetRead(records, catalogue),
    createScopeSetCreate(parts),
    createScopeSetPatch(parts),
    createScopeSetDelete(parts),
    createUserList(parts),
    createUserFilters(),
    createUserRead(parts),
    createUserCreate(parts),
    createUserPatch(parts),
    createUserRemove(parts),
    createUserIdentityList(parts),
    createUserIdentityLink(parts),
    createUserIdentityUnlink(parts),
    createUserThrottleRead(parts),
    createUserThrottleLift(parts),
    createUserApiKeyCreate(parts),
    createUserInvite(parts),
    createAuditList(records, cursors),
    createAuditFilters(),
    createAuditRead(records),
  ];
}
