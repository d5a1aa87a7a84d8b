/** What a complete listing must hold and must not hold: ids, and what they are called in a message. */
export interface ListingBounds {
  readonly must: ReadonlyMap<string, string>;
  readonly mustNot: ReadonlyMap<string, string>;
}

/** What is wrong with the ids of all pages of a listing, in order. */
export function listingProblems(ids: readonly string[], { must, mustNot }: ListingBounds): string[] {
  const seen = new Set<string>();
  const problems: string[] = [];
  for (const id of ids) {
    if (seen.has(id)) problems.push(`${id} is listed twice`);
    seen.add(id);
    const why = mustNot.get(id);
    if (why !== undefined) problems.push(`${id} is listed, though it is gone: ${why}`);
  }
  for (const [id, name] of must) if (!seen.has(id)) problems.push(`${name} (${id}) is missing in a listing`);
  return problems;
}
