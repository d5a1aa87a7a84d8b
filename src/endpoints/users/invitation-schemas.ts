import { z } from 'zod';
import { timestamp } from '../../administration/timestamp.ts';

/** A new invitation. */
export const invitation = z
  .object({
    token: z.string().describe('Shown this once; the user presents it with a new password.'),
    expires: timestamp,
  })
  .meta({ id: 'Invitation' });
