import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** A Lua script: one atomic step in Redis. */
export interface Script {
  readonly source: string;
  /** SHA-1 in hex, by which Redis knows it. */
  readonly sha: string;
  /** Values of the first part of its reply, apart from `expired`. */
  readonly outcomes: readonly string[];
}

/** The scripts of the session store; each documents its arguments on its first lines. */
export const scripts = {
  create: loadScript(['create'], ['created']),
  present: loadScript(['present'], ['gone', 'reused', 'reindex', 'current']),
  noteUse: loadScript(['note-use'], ['unchanged', 'reindex', 'used']),
  revoke: loadScript(['revoke'], ['revoked']),
  index: loadScript(['index'], ['indexed']),
  list: loadScript(['list'], ['listed', 'ended']),
  unlist: loadScript(['unlist'], ['unlisted']),
  check: loadScript(['check'], ['marked']),
  listPage: loadScript(['due', 'list-page'], ['page', 'due']),
  count: loadScript(['due', 'count'], ['counted', 'due']),
  useOnce: loadScript(['use-once'], ['first', 'used']),
  release: loadScript(['release'], ['released']),
  countAttempt: loadScript(['count-attempt'], ['counted']),
  countGroupedAttempt: loadScript(['count-grouped-attempt'], ['counted']),
} as const;

function loadScript(names: readonly string[], outcomes: readonly string[]): Script {
  const read = (file: string) => readFileSync(new URL(`./scripts/${file}.lua`, import.meta.url), 'utf8');
  const source = ['clock', ...names].map(read).join('\n');
  return { source, sha: createHash('sha1').update(source).digest('hex'), outcomes };
}
