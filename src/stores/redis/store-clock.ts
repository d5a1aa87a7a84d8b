import { ClockTrack, createSteadyClock, type SteadyClock } from '../steady-clock.ts';

/** Estimate of Redis' clock, epoch ms. */
export interface StoreClock extends SteadyClock {
  /** Earliest time that Redis' clock may show now, epoch ms: an instant before it has certainly passed there. */
  earliest(): number;
  /** Corrects the estimate by a response with `time`, epoch ms; `sentAt` and `receivedAt` are by `performance.now()`. */
  learn(time: number, sentAt: number, receivedAt: number): void;
}

/** Creates the clock; it shows this machine's time until the first response. */
export function createStoreClock(): StoreClock {
  const offset = Date.now() - performance.now();
  let leastOffset = offset;
  // The first offset is a guess from our own clock; a difference from Redis must not count as a step of Redis' clock.
  const track = new ClockTrack(offset, Number.POSITIVE_INFINITY);
  return {
    now: () => track.now(performance.now()),
    unbroken: () => track.unbroken(performance.now()),
    earliest: () => Math.floor(performance.now() + leastOffset),
    learn(time, sentAt, receivedAt) {
      // Halfway: how long the response took to arrive is unknown.
      track.learn(time - (sentAt + receivedAt) / 2, receivedAt, (receivedAt - sentAt) / 2);
      leastOffset = time - receivedAt;
    },
  };
}

/** Creates a clock for tests, in place of Redis' own. */
export function createTestClock(now: () => number, elapsed?: () => number): StoreClock {
  return { ...createSteadyClock(now, elapsed), earliest: now, learn: () => {} };
}
