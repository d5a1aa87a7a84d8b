import { laterNames } from '../rules/known-headers.ts';
import type { Finding } from './problems.ts';
import type { Config } from './schema.ts';

/** What is right as it is, and what its operator has to know all the same: `check` alone says it. */
export function notesOf({ upstreams }: Pick<Config, 'upstreams'>): Finding[] {
  const names = `${laterNames.slice(0, -1).join(', ')} and ${laterNames.at(-1)}`;
  const rule = `a later version may send ${names}: verifiers of before refuse them, so give its services those of examples/verify-assertion first`;
  return Object.entries(upstreams).flatMap(([name, { assertion }]): Finding[] =>
    assertion === undefined ? [] : [{ path: ['upstreams', name, 'assertion'], rule, at: 'key' }],
  );
}
