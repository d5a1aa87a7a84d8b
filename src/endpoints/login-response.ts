import { z } from 'zod';

/** Response to every sign-in and refresh (RFC 6749 §5.1); the refresh token is in the cookie. */
export const loginResponse = z
  .object({
    access_token: z.string(),
    token_type: z.literal('bearer'),
    expires_in: z.int().nonnegative().describe('Seconds.'),
    scope: z.string().describe('What the token may do: sorted, one space between; empty: nothing.'),
  })
  .meta({ id: 'LoginResponse' });
