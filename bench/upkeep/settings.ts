/** How long each reading of the part takes, and how many instances stand side by side. */
export interface UpkeepSettings {
  /** Idle after the start, until memory is read again. */
  readonly idleSeconds: number;
  /** Under load, at a constant rate. */
  readonly loadSeconds: number;
  /** Idle after the load, until memory is read for the last time. */
  readonly laterSeconds: number;
  readonly instances: number;
}

/** The defaults, in the order of the options. */
export const wholeUpkeep: UpkeepSettings = {
  idleSeconds: 20,
  loadSeconds: 60,
  laterSeconds: 600,
  instances: 100,
};

/** Seconds in all, for a test of the part itself. */
export const quickUpkeep: UpkeepSettings = { idleSeconds: 1, loadSeconds: 1, laterSeconds: 1, instances: 2 };

/** The load, in requests a second: what each row takes. */
export const loadPerSecond = 1_000;
