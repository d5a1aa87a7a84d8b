import { z } from 'zod';
import { timestamp } from '../../administration/timestamp.ts';
import { booleanText } from '../../input/pydantic-types.ts';
import type { SessionSortField } from '../../stores/sessions.ts';
import { instantOperators, type ListField } from '../lists/list-fields.ts';
import type { ListSpec } from '../lists/list-spec.ts';
import { pageFields } from '../lists/page.ts';

function hydrate() {
  return booleanText().prefault(true).describe('Shows `user` as an object instead of a bare id.');
}

/** `?hydrate` of calls that return one session. */
export const sessionQuery = z.object({ hydrate: hydrate() });

/** A session as it is read. */
export const sessionRead = z
  .object({
    id: z.string(),
    user: z
      .union([z.string(), z.object({ id: z.string(), username: z.string().nullable() })])
      .describe('An object with `hydrate=true`, the bare id otherwise.'),
    created: timestamp,
    last_used: timestamp.describe('Sign-in, refresh, or a request by the web cookie (to about a minute).'),
    expires: timestamp.describe('The nearer of idle and absolute end.'),
    method: z.string().describe("`password` or the provider's name."),
    scopes: z.array(z.string()).describe('What its next access token would hold.'),
    address: z.string(),
    user_agent: z.string().describe('At most 256 characters.'),
    current: z.boolean().describe('Whether it is the session that makes the call.'),
  })
  .meta({ id: 'SessionRead' });

/** Page of sessions. */
export const sessionPage = z
  .object(pageFields(sessionRead, 'Live sessions that pass the filters.'))
  .meta({ id: 'SessionCursorPage' });

const sortedOnly = 'Only together with `sort_by` of the same field.';
const rangeNotes = { gte: sortedOnly, gt: sortedOnly, lte: sortedOnly, lt: sortedOnly };
const fields: readonly ListField[] = [
  { name: 'method', type: 'string', operators: ['eq'], notes: { eq: "`password` or a provider's name." } },
  { name: 'created', type: 'datetime', operators: instantOperators, notes: rangeNotes },
  { name: 'last_used', type: 'datetime', operators: instantOperators, notes: rangeNotes },
];

/** Fields that the caller's own sessions are listed by. */
export const ownSessionListSpec: ListSpec<SessionSortField> = {
  name: 'own-sessions',
  fields,
  sortFields: ['created', 'last_used'],
  presentation: { hydrate: hydrate() },
};

/** Fields that all sessions are listed by. */
export const sessionListSpec: ListSpec<SessionSortField> = {
  ...ownSessionListSpec,
  name: 'sessions',
  fields: [{ name: 'user', type: 'string', operators: ['eq'], notes: { eq: 'Id of the user.' } }, ...fields],
};

/** Which of their own sessions the caller ends. */
export const otherSessionsQuery = z.strictObject({
  others: booleanText().describe('Must be `true`: ends all sessions except the one that makes the call.'),
});

/** Whose sessions an administrator ends. */
export const endedSessionsQuery = z.strictObject({
  user: z.string().optional().describe('Id of the user whose sessions end.'),
  all: booleanText().optional().describe("`true`: everyone's, one's own included; for administrators."),
});
