const administrator = 'administrator';

/** White space and invisible characters: control and format characters, fillers, variation selectors, the blank of Braille. */
const unseen = /[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/**
 * True if people would read a name as that of the built-in scope set: in upper or lower case, in letters of another width or
 * style, or with invisible characters. Someone might assign such a set in place of the built-in one.
 */
export function readsAsBuiltInSet(name: string): boolean {
  // Normalised before, because a joiner keeps marks apart, and again once joiners are removed.
  const seen = name.normalize('NFKC').replace(unseen, '').normalize('NFKC');
  return seen.toLowerCase().toUpperCase().toLowerCase() === administrator;
}
