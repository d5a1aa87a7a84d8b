import type { Measured } from '../../bench/bounds.ts';

/** A run of the benchmark of which no part was requested. */
export const nothingMeasured: Measured = {
  saturation: undefined,
  offered: undefined,
  halfLoad: undefined,
  footprint: undefined,
  upkeep: undefined,
  decisions: undefined,
  bodies: undefined,
};
