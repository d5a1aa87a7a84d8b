/**
 * A copy of a latin1 text that may outlive its message. V8 represents a substring as a reference to the whole text it was cut
 * from: a single kept field would retain its whole head.
 */
export function keptText(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
