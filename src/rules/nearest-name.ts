/** The known name that was probably meant: it differs in case, separators or a few letters. Undefined if none is close enough. */
export function nearestName(written: string, known: readonly string[]): string | undefined {
  const folded = fold(written);
  const same = known.find((name) => fold(name) === folded);
  if (same !== undefined) return same;
  const ranked = known
    .map((name) => ({ name, edits: editDistance(folded, fold(name)) }))
    .sort((left, right) => left.edits - right.edits);
  const [nearest] = ranked;
  return nearest !== undefined && nearest.edits <= mostEdits(folded, nearest.name) ? nearest.name : undefined;
}

/** `: did you mean "NAME"?`, or nothing; `prefix` precedes the name. */
export function suggestion(written: string, known: readonly string[], prefix = ''): string {
  const nearest = nearestName(written, known);
  return nearest === undefined ? '' : `: did you mean "${prefix}${nearest}"?`;
}

/** Maximum number of names in a list: more wouldn't be read. */
const mostListed = 8;

/** The {@link suggestion}, or else the known names: `: one of a, b`. */
export function suggestionOrNames(written: string, known: readonly string[]): string {
  if (known.length === 0) return ': there is none';
  const listed = known.length > mostListed ? [...known.slice(0, mostListed), '…'] : known;
  return suggestion(written, known) || `: ${known.length === 1 ? known[0] : `one of ${listed.join(', ')}`}`;
}

/** Maximum number of edits in a typo, 0 to 3 by length: in a short name, two could turn any name into any other. */
function mostEdits(written: string, name: string): number {
  const length = Math.min(written.length, name.length);
  return length < 3 ? 0 : length < 6 ? 1 : Math.min(3, Math.floor(length / 3));
}

function fold(name: string): string {
  return name.toLowerCase().replace(/[-_.\s]/g, '');
}

/** Maximum length of a compared name: the cost is quadratic. */
const longestCompared = 64;

/** The number of insertions, deletions, replacements and swaps of neighbours that turn one text into the other. */
function editDistance(from: string, to: string): number {
  if (from.length > longestCompared || to.length > longestCompared) return Number.POSITIVE_INFINITY;
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const isSame = from[i - 1] === to[j - 1];
      let edits = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (isSame ? 0 : 1));
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1])
        edits = Math.min(edits, beforeLast[j - 2]! + 1);
      row.push(edits);
    }
    beforeLast = last;
    last = row;
  }
  return last[to.length]!;
}
