/** Words for numbers of things, and for their fate. */

/**
 * The number with its noun; '' for none, "all" if unknown.
 * @param {number | null | undefined} count
 * @param {string} one
 * @param {string} many
 */
export function counted(count, one, many) {
  if (count === null || count === undefined) return `all ${many}`;
  return count === 0 ? '' : `${count.toLocaleString()} ${count === 1 ? one : many}`;
}

/** A sentence with the fate of each kind of things; '' for none. @param {(readonly [what: string, fate: string])[]} fates */
export function ending(...fates) {
  const parts = fates.filter(([what]) => what !== '').map(([what, fate]) => `${what} will ${fate}`);
  const words = parts.join(' and ');
  return words === '' ? '' : `${words.charAt(0).toUpperCase()}${words.slice(1)} immediately.`;
}
