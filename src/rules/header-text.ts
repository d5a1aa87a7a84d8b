/**
 * True for a text whose UTF-8 bytes every reader takes for the same value of a header: without control characters (RFC 9110
 * §5.5), and without a space at its ends, which parsers drop. A lone surrogate has no UTF-8.
 */
export function isHeaderText(text: string): boolean {
  return text.isWellFormed() && !/\p{Cc}|^ | $/u.test(text);
}
