import type { Config } from '../config/sections/schema.ts';
import type { Cursors } from '../credentials/cursor.ts';
import type { AnyEndpoint } from '../endpoints/endpoint.ts';
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
import type { AdministrationParts } from './administration-parts.ts';

/** The endpoints that list and end sessions, as far as `endpoints` has them here. */
export function sessionEndpoints(
  config: Config,
  parts: AdministrationParts,
  cursors: Cursors,
): AnyEndpoint[] {
  const options = { ...parts, ...parts.stores };
  const own: AnyEndpoint[] = [
    createOwnSessionList(options, cursors),
    createOwnSessionFilters(),
    createOwnSessionDelete(options),
    createOtherSessionsDelete(options),
  ];
  const all: AnyEndpoint[] = [
    createSessionList(options, cursors),
    createSessionFilters(),
    createSessionRead(options),
    createSessionDelete(options),
    createSessionsDelete(options),
  ];
  const { self_sessions: self, admin_sessions: admin } = config.endpoints;
  return [...(self === 'own' ? own : []), ...(admin === 'own' ? all : [])];
}
