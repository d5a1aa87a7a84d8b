/** The maximum length of an e-mail address, in characters (RFC 5321 §4.5.3.1.3, without the angle brackets). */
export const maxEmailLength = 254;

const part = String.raw`[^\s\u0000-\u001f\u007f-\u009f,;<>()"@]+`;

/**
 * Matches one e-mail address of any length. Spaces and `,;<>()"` are excluded, because mailers may read several addresses out of
 * such a text. The source is published in the OpenAPI document, so it uses only syntax that regular expressions of other
 * languages share.
 */
export const emailAddress = new RegExp(`^${part}@${part}$`, 'u');

/** True if a text is one e-mail address that isn't too long to be delivered to. */
export function isEmailAddress(text: string): boolean {
  return text.isWellFormed() && [...text].length <= maxEmailLength && emailAddress.test(text);
}
