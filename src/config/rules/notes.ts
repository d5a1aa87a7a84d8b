import { laterNames } from '../../rules/known-headers.ts';
import type { Finding } from '../report/problems.ts';
import type { Config } from '../sections/schema.ts';

/** Notes about settings that are right but have consequences their operator must know; only `check` prints them. */
export function notesOf({ upstreams }: Pick<Config, 'upstreams'>): Finding[] {
  const names = `${laterNames.slice(0, -1).join(', ')} and ${laterNames.at(-1)}`;
  const rule = `a later version may send ${names}: earlier verifiers refuse them, so first give its services those of examples/verify-assertion`;
  return Object.entries(upstreams).flatMap(([name, { assertion }]): Finding[] =>
    assertion === undefined ? [] : [{ path: ['upstreams', name, 'assertion'], rule, at: 'key' }],
  );
}
