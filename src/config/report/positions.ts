import type { LineCounter } from 'yaml';
import { lookUp } from './issues.ts';
import { type ConfigProblem, type Finding, keyOf, type Path } from './problems.ts';
import { type Location, locationKey, type Tree } from './tree.ts';

/** Turns findings into problems with line and column, in file order, without duplicates. */
export function positionsIn(lines: LineCounter, tree?: Tree) {
  return { problemsOf };

  function problemsOf(findings: readonly Finding[]): ConfigProblem[] {
    const placed = findings
      .map((finding) => ({ finding, offset: finding.offset ?? offsetOf(finding) }))
      .sort((left, right) => left.offset - right.offset)
      .map(({ finding, offset }) => problemAt(finding, offset));
    const once = new Map(placed.map((problem) => [JSON.stringify(problem), problem]));
    return [...once.values()];
  }

  function problemAt({ path, rule, at = 'value', offset: own }: Finding, offset: number): ConfigProblem {
    const { line, col } = lines.linePos(offset);
    const value = at === 'value' && own === undefined ? shownValue(path) : undefined;
    return { line, column: col, key: keyOf(path), rule, ...(value !== undefined && { value }) };
  }

  function offsetOf({ path, at = 'value' }: Finding): number {
    const location = nearestLocation(at === 'parent' ? path.slice(0, -1) : path);
    return at === 'value' ? location.value : (location.key ?? location.value);
  }

  /** The location of the path or, if it was not written, of its nearest written parent. */
  function nearestLocation(path: Path): Location {
    const location = tree?.locations.get(locationKey(path));
    if (location) return location;
    return path.length === 0 ? { value: 0, hidden: true } : nearestLocation(path.slice(0, -1));
  }

  function shownValue(path: Path): string | undefined {
    const value = lookUp(tree?.value, path);
    const { hidden, origin } = nearestLocation(path);
    if (value === undefined || typeof value === 'object') return undefined;
    if (hidden) return origin;
    // A URL with a user may contain a password, even under a key that expects no URL.
    if (String(value).includes('@')) return undefined;
    // Without quotes, a string where a number belongs would look like one.
    return typeof value === 'string' && looksLikeAnotherScalar(value) ? `"${value}"` : String(value);
  }
}

function looksLikeAnotherScalar(text: string): boolean {
  return /^(?:[-+]?\d+(?:\.\d+)?|true|false|null|)$/.test(text);
}
