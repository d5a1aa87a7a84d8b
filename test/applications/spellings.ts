/**
 * Spellings of a credential in which it may be sent on: as it is, and within Basic, where the length of the text before it decides
 * between three.
 */
export function spellingsOf(secret: string): string[] {
  const encoded = [0, 1, 2].map((before) => {
    const text = Buffer.from('x'.repeat(before) + secret).toString('base64');
    // Characters that have bits of the text before, or of what follows.
    return text.slice(before === 0 ? 0 : before + 1, -4);
  });
  return [secret, ...encoded, ...encoded.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))];
}
