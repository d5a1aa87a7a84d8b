import { passwordFault } from '../credentials/password-rules.ts';
import { ValidationError } from '../errors.ts';

/** Throws {@link ValidationError} for the field `field` of a body unless the password may be that user's. */
export function assertAllowedPassword(password: string, username: string | null, field: string): void {
  const fault = passwordFault(password, username);
  if (fault === undefined) return;
  throw new ValidationError([
    {
      type: 'value_error',
      loc: ['body', field],
      msg: `Value error, ${fault}`,
      input: null,
      ctx: { error: {} },
    },
  ]);
}
