import t from 'tap';
import { decideRotation, initialRotation, type RotationState } from '../../src/stores/session-rotation.ts';

/** The rule as a whole, in simulated lives: who must be detected, and who must never be mistaken for a thief. */

const isLong = process.env.POSTERN_TEST_LONG !== undefined;
const lives = isLong ? 300 : 60;
const graceMs = 30_000;
const minuteMs = 60_000;
const lifeMs = 90 * 24 * 60 * minuteMs;

/** Numbers from 0 to 1, the same in every run (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * How long it takes to detect the second of two holders of one cookie, in ms; Infinity: never within the session's
 * life.
 */
function timeUntilSeen(
  firstMs: readonly [owner: number, thief: number],
  intervalsMs: readonly [owner: number, thief: number],
  jitter: number,
  random: () => number,
): number {
  let state = initialRotation(0);
  const holders = firstMs.map((next, index) => ({ intervalMs: intervalsMs[index]!, generation: 1, next }));
  for (;;) {
    const holder = holders.reduce((first, other) => (other.next < first.next ? other : first));
    const now = holder.next;
    if (now > lifeMs) return Number.POSITIVE_INFINITY;
    const decision = decideRotation(state, holder.generation, now, graceMs);
    if (decision.outcome !== 'current') return now;
    state = decision.state;
    holder.generation = state.generation;
    holder.next = now + holder.intervalMs * (1 + jitter * (2 * random() - 1));
  }
}

const pairs: [string, ownerMs: number, thiefMs: number, jitter: number, medianMinutes: number][] = [
  ['every ten minutes, exactly', 600_000, 600_000, 0, 20],
  ['every ten minutes, give or take 2 %', 600_000, 600_000, 0.02, 20],
  ['nearly in step', 600_000, 605_000, 0.02, 20],
  ['the thief every hour', 600_000, 3_600_000, 0.02, 60],
  ['the thief every five minutes', 600_000, 300_000, 0.02, 20],
];

for (const [name, ownerMs, thiefMs, jitter, medianMinutes] of pairs)
  t.test(`two holders are detected: ${name}`, async (t) => {
    const random = createRandom(1);
    const seen: number[] = [];
    while (seen.length < lives) {
      const thiefFirstMs = thiefMs * random();
      // Two holders who always refresh within one grace period of each other can't be told from two tabs.
      const asTabs = jitter === 0 && Math.min(thiefFirstMs, thiefMs - thiefFirstMs) <= graceMs;
      if (!asTabs) seen.push(timeUntilSeen([ownerMs, thiefFirstMs], [ownerMs, thiefMs], jitter, random));
    }
    seen.sort((a, b) => a - b);
    const median = seen[lives / 2]! / minuteMs;
    t.ok(median <= medianMinutes, `median ${median.toFixed(1)} min`);
    t.equal(seen.filter((ms) => ms === Number.POSITIVE_INFINITY).length, 0, 'never detected');
  });

/** How a browser's requests turn out. */
interface Network {
  /** Share of responses that never arrive. */
  readonly lost: number;
  /** Share of responses that arrive late, by at most the grace period. */
  readonly late: number;
  /** Share of the pauses in which the store loses the previous write. */
  readonly lostWrites: number;
}

/** Whether a browser with up to four tabs, all of which refresh at once, is ever signed out. */
function isSignedOut({ lost, late, lostWrites }: Network, random: () => number): boolean {
  let state: RotationState = initialRotation(0);
  let before = state;
  let jar = 1;
  let under: { at: number; generation: number }[] = [];
  for (let now = 0; now < lifeMs; ) {
    now += pauseMs(random);
    const arrived = under.filter(({ at }) => at <= now).sort((a, b) => a.at - b.at);
    under = under.filter(({ at }) => at > now);
    jar = arrived.at(-1)?.generation ?? jar;
    // Requests in flight are lost with it.
    if (random() < lostWrites) [state, under] = [before, []];
    const sent = jar;
    const tabs = 1 + Math.floor(random() * 4);
    for (let tab = 0; tab < tabs; tab += 1) {
      const at = now + tab * 20;
      const decision = decideRotation(state, sent, at, graceMs);
      if (decision.outcome !== 'current') return true;
      before = state;
      state = decision.state;
      const fate = random();
      if (fate < lost) continue;
      if (fate < lost + late) under.push({ at: at + random() * graceMs, generation: state.generation });
      else jar = state.generation;
    }
  }
  return false;
}

/** Another tab soon after, the end of an access token, or a lid that was closed for hours. */
function pauseMs(random: () => number): number {
  const kind = random();
  if (kind < 0.2) return 200_000 * random();
  return kind < 0.6 ? 600_000 : 40_000_000 * random();
}

const networks: [string, Network][] = [
  ['when all goes well', { lost: 0, late: 0, lostWrites: 0 }],
  ['when a third of the responses are lost', { lost: 0.3, late: 0, lostWrites: 0 }],
  ['when responses are lost and late', { lost: 0.3, late: 0.1, lostWrites: 0 }],
  ['when the store loses its last write', { lost: 0, late: 0, lostWrites: 0.05 }],
  ['when all of that happens', { lost: 0.3, late: 0.1, lostWrites: 0.02 }],
];

for (const [name, network] of networks)
  t.test(`an honest browser is never signed out ${name}`, async (t) => {
    const random = createRandom(2);
    const ended = Array.from({ length: lives }, () => isSignedOut(network, random));
    t.equal(ended.filter(Boolean).length, 0, `of ${lives} lives`);
  });
