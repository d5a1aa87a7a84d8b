/**
 * A copy of a latin1 text, for whoever keeps it for longer than a message lives. A part that was cut from a longer text
 * keeps all of that in memory, and what came off the network was cut from a whole head.
 */
export function keptText(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
