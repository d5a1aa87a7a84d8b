/** Characters that JSON allows as they are, but that control a terminal, hide, or turn the direction of what follows. */
const unsafe = /[\u007f-\u009f\p{Cf}\u2028\u2029]/u;
const everyUnsafe = new RegExp(unsafe, 'gu');

/** JSON for a terminal or a log: as JSON.stringify makes it, and safe to show. */
export function jsonText(value: unknown, indent?: number): string {
  return escapeJson(JSON.stringify(value, null, indent));
}

/** The same JSON, with escapes in place of characters that could affect a terminal. */
export function escapeJson(json: string): string {
  return unsafe.test(json) ? json.replace(everyUnsafe, escaped) : json;
}

/** An escape for each UTF-16 code unit, as JSON has no others. */
function escaped(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
