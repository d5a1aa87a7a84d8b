/** Numbers that follow from a seed alone: what was found once is found again. */
export interface Random {
  /** A whole number from 0 to `end` - 1. */
  below(end: number): number;
  pick<Item>(items: readonly Item[]): Item;
  /** True once in `times`. */
  oneIn(times: number): boolean;
}

/** Starts a sequence (xorshift32); every part of `seed` counts. */
export function createRandom(...seed: readonly number[]): Random {
  let state = 0x9e3779b9;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  for (const part of seed) {
    state = (Math.imul(state ^ part, 0x85ebca6b) ^ (part >>> 7)) | 1;
    next();
    next();
  }
  const below = (end: number) => next() % end;
  return {
    below,
    pick: (items) => items[below(items.length)]!,
    oneIn: (times) => below(times) === 0,
  };
}
