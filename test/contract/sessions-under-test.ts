import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import type { Sessions } from '../../src/stores/sessions.ts';

/** A session store with a clock controlled by the test. */
export interface SessionsUnderTest {
  readonly store: Sessions;
  /** Another connection to the same data, as another process has it. */
  openSecond(): Sessions | Promise<Sessions>;
  /** Whether it sees at once what another connection did; otherwise it is notified, within a second. */
  readonly seesAtOnce: boolean;
  /** Time passes. */
  advance(ms: number): void | Promise<void>;
  /** The store's clock is set, ahead or (negative) back, and no time passes. */
  step(ms: number): void;
}

/** How the suite gets a store; each call gives an empty one, closed by the test's teardown. */
export interface SessionsFactory {
  readonly name: string;
  create(t: Test): SessionsUnderTest | Promise<SessionsUnderTest>;
}

/** Queries until the session is gone, for as long as the contract gives another process. */
export async function isGone(store: Sessions, id: string, seesAtOnce: boolean): Promise<boolean> {
  const until = performance.now() + (seesAtOnce ? 0 : 1_000);
  for (;;) {
    if ((await store.findLive(id)) === undefined) return true;
    if (performance.now() >= until) return false;
    await sleep(5);
  }
}
