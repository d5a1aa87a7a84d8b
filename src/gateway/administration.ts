import { randomBytes } from 'node:crypto';
import type { Config } from '../config/sections/schema.ts';
import { type Cursors, createCursors } from '../credentials/cursor.ts';
import { createApiKeyCreate } from '../endpoints/api-keys/create.ts';
import { createApiKeyDelete } from '../endpoints/api-keys/delete.ts';
import { createApiKeyFilters, createApiKeyScopes } from '../endpoints/api-keys/describe.ts';
import { createApiKeyList } from '../endpoints/api-keys/list.ts';
import { createApiKeyRead } from '../endpoints/api-keys/read.ts';
import { createAuditFilters, createAuditList } from '../endpoints/audit-events/list.ts';
import { createAuditRead } from '../endpoints/audit-events/read.ts';
import type { AnyEndpoint, Endpoint } from '../endpoints/endpoint.ts';
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
import type { AdministrationParts } from './administration-parts.ts';
import { apiKeyCreateOptions } from './api-key-options.ts';
import { sessionEndpoints } from './session-endpoints.ts';
import { userEndpoints } from './user-endpoints.ts';

const secretBytes = 32;

/** The endpoints of administration that Postern serves itself, as `endpoints` says. */
export async function composeAdministration(
  config: Config,
  parts: AdministrationParts,
): Promise<readonly AnyEndpoint[]> {
  const { records } = parts.stores;
  const { catalogue, now } = parts;
  const cursors = createCursors(await records.secret('cursor', randomBytes(secretBytes)));
  return [
    createApiKeyList({ records, cursors, catalogue, now }),
    ...apiKeyEndpoints(config, parts),
    ...sessionEndpoints(config, parts, cursors),
    ...(config.endpoints.scope_sets === 'own' ? scopeSetEndpoints(parts, cursors) : []),
    ...(config.endpoints.users === 'own' ? userEndpoints(config, parts, cursors) : []),
    ...(config.endpoints.audit === 'own'
      ? [createAuditList(records, cursors), createAuditFilters(), createAuditRead(records)]
      : []),
  ];
}

function scopeSetEndpoints(parts: AdministrationParts, cursors: Cursors): Endpoint[] {
  const { catalogue } = parts;
  const { records } = parts.stores;
  const options = { ...parts, records };
  return [
    createScopeSetList(records, cursors, catalogue),
    createScopeSetFilters(catalogue),
    createScopeSetRead(records, catalogue),
    createScopeSetCreate(options),
    createScopeSetPatch(options),
    createScopeSetDelete(options),
  ];
}

function apiKeyEndpoints(config: Config, parts: AdministrationParts): Endpoint[] {
  const { catalogue, audit, now, onCredentialEnded } = parts;
  const { records } = parts.stores;
  return [
    createApiKeyFilters(catalogue),
    createApiKeyScopes(catalogue),
    createApiKeyRead({ records, catalogue, now }),
    createApiKeyCreate(apiKeyCreateOptions(config, parts)),
    createApiKeyDelete({ records, audit, onKeyDeleted: onCredentialEnded }),
  ];
}
