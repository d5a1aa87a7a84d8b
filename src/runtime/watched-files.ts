import { type BigIntStats, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { onTicks } from '../ticks.ts';

/** Interval of the checks, ms. They follow symbolic links, so that a replaced link counts as a change. */
const checkIntervalMs = 1_000;

/** Notices changes of files within about a second. A check doesn't block the event loop, even if a file system hangs. */
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

  /** Calls `onChange` once if files have changed since the last check; does nothing while another check runs. */
  async check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    const states = this.#states;
    const changes = await Promise.all([...states].map(([file, before]) => hasChanged(file, before, states)));
    this.#isChecking = false;
    if (changes.includes(true) && !this.#isClosed) this.#onChange();
  }

  close(): void {
    this.#stop();
    this.#isClosed = true;
  }
}

/** Records the current state of a file in `states`; resolves to true if it differs from `before`. */
async function hasChanged(file: string, before: string, states: Map<string, string>): Promise<boolean> {
  const state = await stat(file, { bigint: true }).then(stateOf, () => '');
  if (state === before) return false;
  states.set(file, state);
  return true;
}

/** State of a file: its identity, size and times of change, as text; empty if the file can't be read. */
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
