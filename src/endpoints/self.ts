import { z } from 'zod';
import { timestamp, toTimestamp } from '../administration/timestamp.ts';
import type { EndpointDefinition } from './endpoint.ts';

const self = z
  .object({
    subject: z
      .string()
      .describe('Id of the user; for a key, of the user who minted it. As `X-Auth-Subject`.'),
    username: z.string().nullable().describe('Null once the user has been removed, whose keys may go on.'),
    display_name: z.string().nullable(),
    method: z.enum(['session', 'api_key']).describe('Kind of credential, as `X-Auth-Method`.'),
    scopes: z.array(z.string()).describe('Scopes that the credential has now, sorted.'),
    session_id: z.string().nullable().describe('Null for a key.'),
    key_id: z.string().nullable().describe('Null for a session.'),
    expires: timestamp
      .nullable()
      .describe('End of the session, unless it is used before, or of the key; null: never.'),
  })
  .meta({ id: 'Self' });

/** `GET /api/self`: the caller, as services learn who is calling. */
export const selfRead: EndpointDefinition = {
  id: 'Authentication-Self',
  method: 'GET',
  path: '/api/self',
  guard: { scopes: [] },
  summary: 'Shows who is calling',
  description:
    'The caller, by access token or API key, whatever its scopes. Only with `endpoints.self: own`; else the service may have a path of that name.',
  success: { status: 200, description: 'The caller.', schema: () => self },
  refusals: [],

  create() {
    return async ({ principal }) => {
      const { kind, userId, username, displayName, scopes, credentialId, expires } = principal;
      const isSession = kind === 'session';
      return {
        status: 200,
        body: {
          subject: userId,
          username,
          display_name: displayName,
          method: kind,
          scopes,
          session_id: isSession ? credentialId : null,
          key_id: isSession ? null : credentialId,
          expires: expires === null ? null : toTimestamp(expires),
        },
      };
    };
  },
};
