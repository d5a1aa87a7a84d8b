import { createRandom, type Random } from '../../support/corpora/random.ts';

/** One step of a client: which operation, at which gateway, and the numbers from which it takes all other choices. */
export interface Step<Name extends string> {
  /** Also the beginning of the ids of its requests. */
  readonly id: string;
  readonly name: Name;
  readonly gateway: number;
  readonly pauseMs: number;
  readonly random: Random;
}

/** How often each operation comes, relative to the others. */
export type Weights<Name extends string> = Readonly<Record<Name, number>>;

/**
 * The step of that number of a client. It follows from the seed alone, not from what was received before: a run with the
 * same seed does the same operations.
 */
export function stepOf<Name extends string>(
  seed: number,
  client: number,
  index: number,
  weights: Weights<Name>,
  gateways: number,
): Step<Name> {
  const random = createRandom(seed, client + 1, index + 1);
  const names = Object.entries(weights) as [Name, number][];
  const total = names.reduce((sum, [, weight]) => sum + weight, 0);
  let at = random.below(total);
  const [name] = names.find(([, weight]) => {
    at -= weight;
    return at < 0;
  })!;
  const gateway = random.below(gateways);
  return { id: `c${client}-${index}`, name, gateway, pauseMs: random.below(60), random };
}

/** Some of those, at least `least`, in their order. */
export function someOf<Item>(random: Random, items: readonly Item[], least = 0): Item[] {
  const chosen = items.filter(() => random.oneIn(2));
  return chosen.length >= least ? chosen : [random.pick(items)];
}
