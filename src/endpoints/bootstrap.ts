import { z } from 'zod';
import { activate, assertBootstrapToken } from '../administration/activation.ts';
import { parsePassword } from '../credentials/passwords.ts';
import { parseUsername } from '../rules/account-name.ts';
import { anonymousIn } from './caller.ts';
import type { EndpointDefinition } from './endpoint.ts';
import { newPassword, newUsername, passwordProblems, readTokenAlone, readWriteBody } from './write-body.ts';

/** Schema of an activation's body. Any string is accepted as token, because a wrong token is refused with 401, not 422. */
function activationBody(minPasswordLength: number) {
  return z
    .strictObject({ token: z.string(), username: newUsername(), password: newPassword(minPasswordLength) })
    .meta({ id: 'BootstrapActivate' });
}

const activatedUser = z.object({ id: z.string(), username: z.string() }).meta({ id: 'BootstrapActivated' });

/** `POST /api/bootstrap/activate`: creates the first administrator, once per records store. */
export const bootstrap: EndpointDefinition<'open'> = {
  id: 'Bootstrap-Activate',
  method: 'POST',
  path: '/api/bootstrap/activate',
  guard: 'open',
  summary: 'Makes the first administrator',
  description: 'Once per records store. Wrong tokens are counted per address.',
  // The minimum length depends on the configuration, but a blank password is never allowed.
  body: { schema: () => activationBody(1) },
  success: { status: 201, description: 'The administrator.', schema: () => activatedUser },
  refusals: [
    'invalid_bootstrap_token',
    'already_activated',
    'conflict',
    'too_many_attempts',
    'overloaded',
    'store_unavailable',
  ],

  create(parts) {
    const { minPasswordLength } = parts;
    const schema = activationBody(minPasswordLength);
    return async (call) => {
      const { exchange, body, contentType } = call;
      const by = anonymousIn(exchange);
      const assertToken = (token: string) => assertBootstrapToken(parts, by, token, exchange.address);
      const token = readTokenAlone(body, contentType);
      if (token !== undefined) await assertToken(token);
      const form = await readWriteBody(call, schema, {
        secret: ['token', 'password'],
        judge: ({ username, password }) => passwordProblems(password, username, 'password'),
      });
      const account = {
        username: parseUsername(form.username) as string,
        password: parsePassword(form.password, minPasswordLength) as string,
      };
      const { id, username } = await activate(parts, by, account, () => assertToken(form.token));
      return { status: 201, body: { id, username } };
    };
  },
};
