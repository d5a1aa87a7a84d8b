import type { z } from 'zod';
import { type OwnedSession, presentSession } from '../../administration/live-sessions.ts';
import type { Holdings } from '../../credentials/holdings.ts';
import type { Principal } from '../../credentials/principal.ts';
import type { Reply } from '../../http/reply.ts';
import type { EndpointParts } from '../endpoint-parts.ts';
import type { sessionRead } from './session-schemas.ts';

/** Response to the end of sessions: 204, which clears the cookies if the session of the caller is among them. */
export function endedReply({ forgetting }: Pick<EndpointParts, 'forgetting'>, isOwn: boolean): Reply {
  return isOwn ? { status: 204, headers: forgetting } : { status: 204 };
}

/** True if the caller presented that session. */
export function isCurrent(id: string, { kind, credentialId }: Principal): boolean {
  return kind === 'session' && credentialId === id;
}

/** A session as `SessionRead`, to the caller. */
export function presentTo(
  principal: Principal,
  found: OwnedSession,
  { holdings, hydrate }: { readonly holdings: Holdings; readonly hydrate: boolean },
): z.input<typeof sessionRead> {
  return {
    ...presentSession(found, { holdings, hydrate }),
    current: isCurrent(found.session.id, principal),
  };
}
