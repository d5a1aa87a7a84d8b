import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** A Lua script: one atomic step in Redis. */
export interface Script {
  readonly source: string;
  /** SHA-1 in hex, by which Redis knows it. */
  readonly sha: string;
}

/** The scripts of the session store; each documents its arguments on its first lines. */
export const scripts = {
  create: loadScript('create'),
  present: loadScript('present'),
  revoke: loadScript('revoke'),
  index: loadScript('index'),
  list: loadScript('list'),
  unlist: loadScript('unlist'),
  listPage: loadScript('list-page'),
  useOnce: loadScript('use-once'),
  release: loadScript('release'),
  countAttempt: loadScript('count-attempt'),
  countGroupedAttempt: loadScript('count-grouped-attempt'),
} as const;

function loadScript(name: string): Script {
  const read = (file: string) => readFileSync(new URL(`./scripts/${file}.lua`, import.meta.url), 'utf8');
  const source = `${read('clock')}\n${read(name)}`;
  return { source, sha: createHash('sha1').update(source).digest('hex') };
}
