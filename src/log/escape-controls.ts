/** Escapes every character that could affect a terminal or break a line, in the form `\u{1b}`. */
export function escapeControls(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}
