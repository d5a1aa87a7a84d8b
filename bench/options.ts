import { parseArgs } from 'node:util';
import { leastRounds } from './bounds.ts';
import { quickUpkeep, type UpkeepSettings, wholeUpkeep } from './upkeep/settings.ts';

/** What can be measured: each part has its table in RESULTS.md. */
export const parts = [
  'saturation',
  'offered',
  'half-load',
  'start',
  'memory',
  'upkeep',
  'decisions',
  'bodies',
] as const;

export type Part = (typeof parts)[number];

/** Those that have peers of their own. */
export const ownPeersParts: ReadonlySet<Part> = new Set(['upkeep', 'decisions', 'bodies']);

/** The options of the command line. */
export interface Options {
  /** Names of the peers to run; undefined: all. */
  readonly only: readonly string[] | undefined;
  /** What is measured; default: everything, and what has peers of its own only if every peer runs. */
  readonly parts: ReadonlySet<Part>;
  /** How often each peer has its turn; by default as often as bounds take to be judged. */
  readonly rounds: number;
  /** Length of one measured window, in whole seconds; default 3. */
  readonly seconds: number;
  /** Connections of the load generator, kept alive; default 64. */
  readonly connections: number;
  /** Whether RESULTS.md and the pictures are written; by default after a whole run of at least the default size. */
  readonly write: boolean;
  /** Whether a bound that is not held fails the run; by default if every peer runs, often enough. */
  readonly check: boolean;
  /** How long the readings of `upkeep` take, and of how many instances; by default as bounds take to be judged. */
  readonly upkeep: UpkeepSettings;
  /** The one peer to run under the V8 profiler instead of measuring. */
  readonly profile: string | undefined;
}

const defaultRounds = leastRounds;
const defaultSeconds = 3;

/** The usage line. */
export const usage = `usage: node bench/run.ts [--only a,b] [--parts ${parts.join(',')}] [--rounds ${defaultRounds}] [--seconds ${defaultSeconds}] [--connections 64] [--[no-]write] [--[no-]check] [--profile PEER]
  of upkeep: [--quick] [--idle-seconds ${wholeUpkeep.idleSeconds}] [--load-seconds ${wholeUpkeep.loadSeconds}] [--later-seconds ${wholeUpkeep.laterSeconds}] [--instances ${wholeUpkeep.instances}]`;

/** Reads the command line; throws with a readable message when it is wrong. */
export function parseOptions(args: readonly string[], peerNames: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    allowNegative: true,
    options: {
      only: { type: 'string' },
      parts: { type: 'string' },
      rounds: { type: 'string', default: `${defaultRounds}` },
      seconds: { type: 'string', default: `${defaultSeconds}` },
      connections: { type: 'string', default: '64' },
      write: { type: 'boolean' },
      check: { type: 'boolean' },
      quick: { type: 'boolean', default: false },
      'idle-seconds': { type: 'string' },
      'load-seconds': { type: 'string' },
      'later-seconds': { type: 'string' },
      instances: { type: 'string' },
      profile: { type: 'string' },
    },
  });
  const only = values.only?.split(',');
  const profile = values.profile;
  for (const name of [...(only ?? []), ...(profile === undefined ? [] : [profile])]) {
    if (!peerNames.includes(name)) throw new Error(`no peer "${name}"; there are: ${peerNames.join(', ')}`);
  }
  const rounds = parseCount('rounds', values.rounds);
  const seconds = parseCount('seconds', values.seconds);
  const defaults = values.quick ? quickUpkeep : wholeUpkeep;
  const count = (name: 'idle-seconds' | 'load-seconds' | 'later-seconds' | 'instances', otherwise: number) =>
    parseCount(name, values[name] ?? `${otherwise}`);
  const isWhole = only === undefined && values.parts === undefined;
  const upkeep = {
    idleSeconds: count('idle-seconds', defaults.idleSeconds),
    loadSeconds: count('load-seconds', defaults.loadSeconds),
    laterSeconds: count('later-seconds', defaults.laterSeconds),
    instances: count('instances', defaults.instances),
  };
  const isLong = Object.entries(wholeUpkeep).every(
    ([name, least]) => upkeep[name as keyof UpkeepSettings] >= least,
  );
  return {
    only,
    parts: new Set(
      values.parts?.split(',').map(parsePart) ?? parts.filter((part) => isWhole || !ownPeersParts.has(part)),
    ),
    rounds,
    seconds,
    connections: parseCount('connections', values.connections),
    write: values.write ?? (isWhole && isLong && rounds >= defaultRounds && seconds >= defaultSeconds),
    check: values.check ?? (only === undefined && rounds >= leastRounds),
    upkeep,
    profile,
  };
}

function parsePart(name: string): Part {
  const part = parts.find((candidate) => candidate === name);
  if (part === undefined) throw new Error(`no part "${name}"; there are: ${parts.join(', ')}`);
  return part;
}

function parseCount(name: string, text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new Error(`--${name} takes a whole number from 1, not "${text}"`);
  return Number(text);
}
