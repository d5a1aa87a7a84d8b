import { z } from 'zod';
import { assertNotForeignPage } from '../http/foreign-page.ts';
import { readForm } from '../input/url-encoded.ts';
import type { EndpointDefinition } from './endpoint.ts';
import { loginResponse } from './sign-in.ts';

/** Schema of the sign-in form, with the fields in FastAPI's order. */
const loginForm = z
  .object({
    grant_type: z
      .string()
      .regex(/^password$/)
      .optional()
      .describe('Only `password`.'),
    // A blank field counts as missing.
    username: z.string().meta({ minLength: 1 }),
    password: z.string().meta({ format: 'password', minLength: 1 }),
    scope: z.string().default('').describe('Space-separated; blank asks for everything the user holds.'),
    client_id: z.string().optional().describe('Accepted and reserved.'),
    client_secret: z.string().optional().describe('Accepted and reserved.').meta({ format: 'password' }),
  })
  .meta({ id: 'Body_Authentication-Login', title: 'Body_Authentication-Login' });

/** `POST /api/login/access-token`: sign-in by password (RFC 6749 §4.3). */
export const login: EndpointDefinition<'open'> = {
  id: 'Authentication-Login',
  method: 'POST',
  path: '/api/login/access-token',
  guard: 'open',
  oauth: true,
  summary: 'Signs in with a password',
  description:
    'Failed attempts are counted per account and address, per account and per address. A post from a foreign page is refused.',
  body: { mediaType: 'application/x-www-form-urlencoded', schema: () => loginForm },
  success: {
    status: 200,
    description: 'An access token; the refresh token is in the cookie.',
    schema: () => loginResponse,
    headers: ['Set-Cookie'],
  },
  refusals: ['invalid_credentials', 'cross_site', 'too_many_attempts', 'overloaded', 'store_unavailable'],

  create({ login: passwordSignIn, isKnownOrigin }) {
    return async ({ exchange, body, contentType }) => {
      assertNotForeignPage(exchange.head, isKnownOrigin);
      const form = readForm(body, contentType, loginForm, { secret: ['password', 'client_secret'] });
      const { reply } = await passwordSignIn.signIn(exchange, form);
      return reply;
    };
  },
};
