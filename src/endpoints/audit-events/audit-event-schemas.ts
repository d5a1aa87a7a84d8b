import { z } from 'zod';
import { timestamp } from '../../administration/timestamp.ts';
import { recordedAddress } from '../../http/client-address.ts';
import { instantOperators } from '../lists/list-fields.ts';
import type { ListSpec } from '../lists/list-spec.ts';
import { pageFields } from '../lists/page.ts';

/** What audit events are listed by. */
export const auditListSpec: ListSpec<'time'> = {
  name: 'audit',
  fields: [
    { name: 'event', type: 'string', operators: ['eq'] },
    { name: 'outcome', type: 'string', operators: ['eq'], values: ['success', 'failure'] },
    {
      name: 'actor',
      type: 'string',
      operators: ['eq'],
      notes: { eq: 'Id of the user, session or key that acted.' },
    },
    { name: 'target', type: 'string', operators: ['eq'], notes: { eq: 'Id of what was changed.' } },
    {
      name: 'address',
      type: 'string',
      operators: ['eq'],
      notes: { eq: 'In any spelling. Counted refusals from IPv6 have the address of the /64 block.' },
      spelled: recordedAddress,
    },
    { name: 'request_id', type: 'string', operators: ['eq'] },
    { name: 'time', type: 'datetime', operators: instantOperators },
  ],
  sortFields: ['time'],
  sortNote: 'The order of commits. Ascending, `next_page` is never null: following it is an exact feed.',
};

const differences = z.object({ added: z.array(z.string()), removed: z.array(z.string()) });

/** An audit event as it is read. */
export const auditEventRead = z
  .object({
    id: z.string(),
    time: timestamp.describe('Never less than that of an earlier event.'),
    event: z.string(),
    outcome: z.enum(['success', 'failure']),
    actor: z.object({
      user: z.string().nullable(),
      session: z.string().optional(),
      key: z.string().optional(),
      kind: z.enum([
        'session',
        'api_key',
        'command_line',
        'configuration',
        'provider',
        'system',
        'anonymous',
      ]),
    }),
    target: z
      .object({
        type: z.string(),
        id: z.string(),
        label: z.string().optional().describe('The label of a key, kept when the key is deleted.'),
      })
      .nullable(),
    changes: z
      .object({
        fields: z.array(z.string()).optional().describe('Names of what was changed, never values.'),
        scopes: differences.optional(),
        scope_sets: differences.optional().describe('Ids of scope sets.'),
      })
      .nullable(),
    reason: z.string().nullable().describe('The code of a refusal.'),
    address: z.string().nullable(),
    user_agent: z.string().nullable().describe('At most 256 characters.'),
    request_id: z.string().nullable(),
    count: z.int().optional().describe('Of refusals: how many the event stands for, from `first` to `last`.'),
    first: timestamp.optional(),
    last: timestamp.optional(),
  })
  .meta({ id: 'AuditEvent' });

/** One page of audit events. */
export const auditEventPage = z
  .object({
    ...pageFields(auditEventRead, 'Events that pass the filters.'),
    gap: z
      .boolean()
      .describe('Ascending: events after the cursor are no longer kept; the page begins with the oldest.'),
  })
  .meta({ id: 'AuditEventCursorPage' });
