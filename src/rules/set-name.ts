const administrator = 'administrator';

/** Gaps of any width, and what has none: format characters, fillers, variation selectors, the blank of Braille. */
const unseen = /[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/**
 * Whether people read a name as that of the built-in scope set: in any case, in letters of another width or style, with
 * characters that no one sees. Someone would give such a set for the other.
 */
export function readsAsBuiltInSet(name: string): boolean {
  // Normalised before, because a joiner keeps marks apart, and after, because it no longer does.
  const seen = name.normalize('NFKC').replace(unseen, '').normalize('NFKC');
  return seen.toLowerCase().toUpperCase().toLowerCase() === administrator;
}
