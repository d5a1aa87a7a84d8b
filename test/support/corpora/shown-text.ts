/** A text from outside as a title of a test: in ASCII, since line separators would break the output, and not for long. */
export function shownText(text: string): string {
  const escaped = JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return escaped.length <= 100 ? escaped : `${escaped.slice(0, 100)}…`;
}
