import type { Principal } from '../credentials/principal.ts';
import {
  type Actor,
  type AuditEntry,
  actorOfSession,
  commandLine,
  configuration,
  system,
} from '../log/log.ts';
import type { CallerRef } from '../stores/caller.ts';

/** The author of an audit event. */
export interface Author {
  readonly actor: Actor;
  /** Origin of the request. */
  readonly origin: Pick<AuditEntry, 'address' | 'userAgent' | 'requestId'>;
}

/** The caller of a use case, whom each change judges again in its transaction. */
export interface Caller extends Author {
  readonly ref: CallerRef;
}

const noRequest: Author['origin'] = { address: null, requestId: null };

/** The operator of a command: anyone who can open the stores could change them without Postern. */
export const operator: Caller = { ref: { kind: 'command_line' }, actor: commandLine, origin: noRequest };

/** The configuration, whose users and scope sets are applied to the records. */
export const configured: Caller = { ref: { kind: 'configuration' }, actor: configuration, origin: noRequest };

/** Postern itself: the author of changes that no request asked for. */
export const automatic: Author = { actor: system, origin: noRequest };

/** The caller of a request, by the session or key that was presented. */
export function callerOf(principal: Principal, origin: Author['origin']): Caller {
  return { ref: refOf(principal), actor: actorOf(principal), origin };
}

/** The user of a credential, and the session or key that was presented. */
export function actorOf({ kind, userId, credentialId }: Principal): Actor {
  return kind === 'session'
    ? actorOfSession(userId, credentialId)
    : { user: userId, key: credentialId, kind: 'api_key' };
}

function refOf(principal: Principal): CallerRef {
  const { kind, userId, credentialId, epoch, origin, isRestricted } = principal;
  if (kind === 'api_key') return { kind, keyId: credentialId };
  const allowed = isRestricted
    ? { scopes: principal.scopes, scopeSets: [] }
    : { scopes: null, scopeSets: null };
  return { kind, userId, session: { id: credentialId, epoch }, origin, ...allowed };
}
