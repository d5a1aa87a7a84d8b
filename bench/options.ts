import { parseArgs } from 'node:util';

/** The options of the command line. */
export interface Options {
  /** Names of the peers to run; undefined: all. */
  readonly only: readonly string[] | undefined;
  /** How often each peer has its turn; default 11. */
  readonly rounds: number;
  /** Length of one measured window, in whole seconds; default 3. */
  readonly seconds: number;
  /** Connections of the load generator, kept alive; default 64. */
  readonly connections: number;
  /** Whether RESULTS.md is written; by default when everything is run. */
  readonly write: boolean;
  /** Whether a bound that is not held fails the run; by default if every peer runs. */
  readonly check: boolean;
  /** Large bodies: measured too by default; true: only they; false: not at all. */
  readonly bodies: boolean | undefined;
  /** The one peer to run under the V8 profiler instead of measuring. */
  readonly profile: string | undefined;
}

/** The usage line. */
export const usage =
  'usage: node bench/run.ts [--only a,b] [--rounds 11] [--seconds 3] [--connections 64] [--[no-]write] [--[no-]check] [--[no-]bodies] [--profile PEER]';

/** Reads the command line; throws with a readable message when it is wrong. */
export function parseOptions(args: readonly string[], peerNames: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    allowNegative: true,
    options: {
      only: { type: 'string' },
      rounds: { type: 'string', default: '11' },
      seconds: { type: 'string', default: '3' },
      connections: { type: 'string', default: '64' },
      write: { type: 'boolean' },
      check: { type: 'boolean' },
      bodies: { type: 'boolean' },
      profile: { type: 'string' },
    },
  });
  const only = values.only?.split(',');
  const profile = values.profile;
  const named = [...(only ?? []), ...(profile === undefined ? [] : [profile])];
  for (const name of named) {
    if (!peerNames.includes(name)) throw new Error(`no peer "${name}"; there are: ${peerNames.join(', ')}`);
  }
  return {
    only,
    rounds: parseCount('rounds', values.rounds),
    seconds: parseCount('seconds', values.seconds),
    connections: parseCount('connections', values.connections),
    write: values.write ?? (only === undefined && values.bodies === undefined),
    check: values.check ?? only === undefined,
    bodies: values.bodies ?? (only === undefined ? undefined : false),
    profile,
  };
}

function parseCount(name: string, text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new Error(`--${name} takes a whole number from 1, not "${text}"`);
  return Number(text);
}
