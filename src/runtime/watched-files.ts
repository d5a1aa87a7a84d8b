import { type BigIntStats, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { onTicks } from '../ticks.ts';

/** Interval of the checks, ms. A symbolic link is followed, so replacing it counts. */
const checkIntervalMs = 1_000;

/**
 * Files of which each change is noticed within about a second. They are read one after the other: a file system that hangs holds
 * one thread of libuv's and not the event loop.
 */
export class WatchedFiles {
  readonly #onChange: () => void;
  #states = new Map<string, string>();
  #isChecking = false;
  #isClosed = false;
  readonly #stop: () => void;

  constructor(files: readonly string[], onChange: () => void) {
    this.#onChange = onChange;
    this.watch(files);
    this.#stop = onTicks(checkIntervalMs, () => void this.check());
  }

  /** Watches these files from now on, and no others. */
  watch(files: readonly string[]): void {
    this.#states = new Map(files.map((file) => [file, this.#states.get(file) ?? stateNow(file)]));
  }

  /** Calls `onChange` once if files have changed since the last check. */
  async check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    const states = this.#states;
    let isChanged = false;
    for (const [file, before] of states) {
      const state = await stat(file, { bigint: true }).then(stateOf, () => '');
      if (state === before) continue;
      states.set(file, state);
      isChanged = true;
    }
    this.#isChecking = false;
    if (isChanged && !this.#isClosed) this.#onChange();
  }

  close(): void {
    this.#stop();
    this.#isClosed = true;
  }
}

/** Identity and time of the last change of a file; empty if it can't be read. */
export function stateNow(file: string): string {
  try {
    return stateOf(statSync(file, { bigint: true }));
  } catch {
    return '';
  }
}

function stateOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
}
