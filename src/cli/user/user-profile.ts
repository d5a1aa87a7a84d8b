import { isEmailAddress, maxEmailLength } from '../../rules/email-address.ts';
import { type Call, Failure } from '../command.ts';

/** The longest display name, in code points, as in the HTTP API. */
const maxTextLength = 256;

/** What `--display-name` and `--email` say; an empty one clears the field. Throws Failure `usage`. */
export function profileOf(call: Call): { displayName?: string | null; email?: string | null } {
  const displayName = textOf(call, 'display-name');
  const email = textOf(call, 'email');
  if (typeof email === 'string' && !isEmailAddress(email))
    throw new Failure('usage', `--email must be one e-mail address of at most ${maxEmailLength} characters`);
  return { ...(displayName !== undefined && { displayName }), ...(email !== undefined && { email }) };
}

function textOf(call: Call, option: string): string | null | undefined {
  const text = call.text(option)?.trim();
  if (text === undefined) return undefined;
  if (text === '') return null;
  if (!text.isWellFormed() || /\p{Cc}/u.test(text))
    throw new Failure('usage', `--${option} must be Unicode without control characters`);
  if ([...text].length > maxTextLength)
    throw new Failure('usage', `--${option} must have at most ${maxTextLength} characters`);
  return text;
}
