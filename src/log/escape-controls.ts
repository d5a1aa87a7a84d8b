/**
 * Escapes every character that could affect a terminal, break a line or pass for empty space (fillers of Hangul, the blank of
 * Braille), in the form `\u{1b}`.
 */
export function escapeControls(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029\u115f\u1160\u3164\uffa0\u2800]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}
