import { readFileSync, statSync } from 'node:fs';

/** How long a file counts as unchanged, ms. */
const unchangedMs = 1_000;

/**
 * Reads a file of `/etc` and parses it, again only once it has changed; one that can't be read is empty. `now`: ms.
 */
export function createEtcFile<T>(path: string, parse: (text: string) => T, now: () => number): () => T {
  let seen = '';
  let checkedAt = Number.NEGATIVE_INFINITY;
  let parsed = parse('');
  return () => {
    if (now() - checkedAt < unchangedMs) return parsed;
    checkedAt = now();
    const state = stateOf(path);
    if (state === seen) return parsed;
    seen = state;
    parsed = parse(state === '' ? '' : textOf(path));
    return parsed;
  };
}

/** Differs whenever the file does; empty: there is none that can be read. */
function stateOf(path: string): string {
  try {
    const { dev, ino, size, mtimeNs } = statSync(path, { bigint: true });
    return `${dev} ${ino} ${size} ${mtimeNs}`;
  } catch {
    return '';
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
