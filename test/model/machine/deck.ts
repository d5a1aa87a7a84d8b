import type { Random } from '../../support/corpora/random.ts';

/** Things drawn at random, each once before any comes again. */
export interface Deck<Item> {
  draw(): Item;
}

/** Creates it; `items` is not empty. */
export function createDeck<Item>(random: Random, items: readonly Item[]): Deck<Item> {
  let left: Item[] = [];
  return {
    draw() {
      if (left.length === 0) left = [...items];
      return left.splice(random.below(left.length), 1)[0]!;
    },
  };
}
