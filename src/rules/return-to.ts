const noControl = String.raw`\\\u0000-\u001f\u007f-\u009f`;
const segment = `[^/?${noControl}]+`;

/**
 * Matches a location to send a browser to after a sign-in: a path of this origin. It begins with one slash, has no two in a row
 * before the query, and no backslash or control character: browsers read those as another origin's URL, and drop some control
 * characters, which can join two slashes.
 */
export const returnToPattern = new RegExp(`^/(${segment}(/${segment})*/?)?(\\?[^${noControl}]*)?$`);

/** Maximum length of the location, in bytes of UTF-8; where a schema counts characters, no allowed one has more. */
export const maxReturnToBytes = 2048;

/** True if a text is allowed as such a location: {@link returnToPattern}, {@link maxReturnToBytes}. */
export function isReturnTo(text: string): boolean {
  return Buffer.byteLength(text) <= maxReturnToBytes && returnToPattern.test(text);
}
