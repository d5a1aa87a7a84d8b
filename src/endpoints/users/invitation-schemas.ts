import { z } from 'zod';
import { newPassword } from '../account-fields.ts';
import { timestamp } from '../timestamp.ts';

/** A new invitation. */
export const invitation = z
  .object({
    token: z.string().describe('Shown this once; the user presents it with a new password.'),
    expires: timestamp,
  })
  .meta({ id: 'Invitation' });

/** The use of an invitation; any string is accepted as token here, because a wrong one is 401. */
export function invitationRedeem(minPasswordLength: number) {
  return z
    .strictObject({ token: z.string(), password: newPassword(minPasswordLength) })
    .meta({ id: 'InvitationRedeem' });
}
