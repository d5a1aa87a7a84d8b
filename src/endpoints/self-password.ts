import { z } from 'zod';
import { assertUnmanaged, changeOwnPassword } from '../administration/users.ts';
import { parsePassword } from '../credentials/passwords.ts';
import { Refusal } from '../errors.ts';
import { canonicalAccountName } from '../rules/account-name.ts';
import type { UserRecord } from '../stores/user-records.ts';
import { callerIn } from './caller.ts';
import type { Call, EndpointDefinition } from './endpoint.ts';
import type { EndpointParts } from './endpoint-parts.ts';
import { newPassword, passwordProblems, readWriteBody } from './write-body.ts';

const secret = ['current_password', 'new_password'] as const;

function selfPasswordBody(minPasswordLength: number) {
  return z
    .strictObject({
      current_password: z.string().meta({ format: 'password' }),
      new_password: newPassword(minPasswordLength),
    })
    .meta({ id: 'SelfPassword' });
}

/** `PUT /api/self/password`: changes the caller's own password, and ends the caller's other sessions. */
export const selfPassword: EndpointDefinition<'session'> = {
  id: 'Sessions-ChangePassword',
  method: 'PUT',
  path: '/api/self/password',
  guard: 'session',
  summary: "Changes the caller's own password",
  description: "Ends the caller's other sessions; the one that asks goes on.",
  body: { schema: () => selfPasswordBody(12) },
  success: { status: 204, description: 'Changed.' },
  refusals: ['wrong_password', 'managed', 'too_many_attempts', 'overloaded'],

  create(parts) {
    const { passwords, minPasswordLength } = parts;
    const schema = selfPasswordBody(minPasswordLength);
    return async (call) => {
      const { principal } = call;
      const form = await readWriteBody(call, schema, {
        secret,
        judge: (fields) => passwordProblems(fields.new_password, principal.username, 'new_password'),
      });
      const found = await requireCurrentPassword(parts, call, form.current_password);
      assertUnmanaged(found);
      const passwordHash = await passwords.hash(
        parsePassword(form.new_password, minPasswordLength) as string,
      );
      // Hashing takes time, in which the session may have ended.
      await call.recheck();
      const sessionId = principal.credentialId;
      await changeOwnPassword(parts, callerIn(call), found, { passwordHash, sessionId });
      return { status: 204 };
    };
  },
};

/**
 * The caller's record, if the password is right; failures count like those of a sign-in. Rejects with `too_many_attempts`, with
 * `wrong_password`, also if the caller has no password, and with `invalid_token` if the caller's record is gone.
 */
async function requireCurrentPassword(
  { records, passwords, throttle }: EndpointParts,
  { exchange, principal }: Call<'session'>,
  password: string,
): Promise<UserRecord> {
  const found = await records.findUserRecord(principal.userId);
  if (found === undefined) throw new Refusal('invalid_token');
  const { username, passwordHash } = found.user;
  const attempt = await throttle.attempt(canonicalAccountName(username), exchange.address);
  const { ok } = await passwords.verify(passwordHash, password).catch(async (error: unknown) => {
    await attempt.giveBack();
    throw error;
  });
  if (!ok) throw new Refusal('wrong_password');
  await attempt.giveBack();
  return found;
}
