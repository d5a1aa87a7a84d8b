import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { LiveSession, Sessions } from '../../src/stores/sessions.ts';
import { newSession, sessionTimes } from './fixtures.ts';
import { isGone, type SessionsUnderTest } from './sessions-under-test.ts';

type Step =
  | { readonly kind: 'wait'; readonly ms: number }
  /** The store's clock is set back, once in a walk at most. */
  | { readonly kind: 'set back' }
  /**
   * Presents the cookie `back` generations behind the newest (ahead of it when negative: the store has lost writes), in
   * as many tabs at once as `tabs`, every other one at a second process when `elsewhere`.
   */
  | { readonly kind: 'present'; readonly back: number; readonly tabs: number; readonly elsewhere: boolean }
  /** Presents the cookie that the newest one replaced. */
  | { readonly kind: 'previous'; readonly tabs: number; readonly elsewhere: boolean };

const { idleLifetimeMs, absoluteLifetimeMs, reuseGraceMs: grace } = sessionTimes;

/** More than a walk takes, so that the clock does not catch up. */
const setBackMs = 24 * 3_600_000;

const tabs = fc.constantFrom(1, 1, 1, 2, 3);

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.constantFrom(0, 1, grace / 2, grace - 1, grace, grace + 1, idleLifetimeMs - 1, idleLifetimeMs),
    }),
    fc.record({
      kind: fc.constant('present' as const),
      back: fc.constantFrom(0, 0, 0, 0, 0, 1, 1, 2, 3, -1, -2),
      tabs,
      elsewhere: fc.boolean(),
    }),
    fc.record({ kind: fc.constant('previous' as const), tabs, elsewhere: fc.boolean() }),
    fc.record({ kind: fc.constant('set back' as const) }),
  ),
  { minLength: 5, maxLength: 25 },
);

/** The contract's sentences on refresh cookies, as a record of every cookie ever issued. */
class CookieBook {
  readonly cookies = new Map<number, { from: number; made: number; firstSeen: number | undefined }>();
  newest = 1;
  ended = false;
  /** Until then it lives, by the store's clock. */
  expires: number;
  readonly #created: number;

  /** `now` counts what has really passed, here and below; the store's clock is `now` less what it was set back. */
  constructor(now: number) {
    this.#created = now;
    this.expires = now + Math.min(idleLifetimeMs, absoluteLifetimeMs);
    this.cookies.set(1, { from: 0, made: now, firstSeen: now });
  }

  isAlive(storeNow: number): boolean {
    return !this.ended && storeNow < this.expires;
  }

  /** The generation that the newest one replaced. */
  previous(): number {
    return this.cookies.get(this.newest)!.from;
  }

  /** The generation in the response, or why there is none. */
  present(generation: number, now: number, storeNow: number): number | 'reused' | 'gone' {
    if (!this.isAlive(storeNow) || generation < 1) return 'gone';
    const { from, made, firstSeen } = this.cookies.get(this.newest)!;
    const isNew = now < made + grace || (firstSeen !== undefined && now < firstSeen + grace);
    if (generation > this.newest) {
      this.cookies.set(generation, { from: generation - 1, made: now, firstSeen: now });
      this.newest = generation;
    } else if (generation === this.newest) {
      if (firstSeen === undefined) this.cookies.get(this.newest)!.firstSeen = now;
      else if (!isNew) this.#makeFrom(generation, now);
    } else if (generation === from && !isNew && firstSeen === undefined) {
      this.#makeFrom(generation, now);
    } else if (generation !== from || !isNew) {
      this.ended = true;
      return 'reused';
    }
    this.expires = Math.min(storeNow + idleLifetimeMs, this.#created + absoluteLifetimeMs);
    return this.newest;
  }

  #makeFrom(generation: number, now: number): void {
    this.newest += 1;
    this.cookies.set(this.newest, { from: generation, made: now, firstSeen: undefined });
  }
}

/** Walks at random through refreshes on two connections; every response must be the model's. */
export async function checkRotationAgainstModel(
  { store, advance, step: stepClock, seesAtOnce }: SessionsUnderTest,
  second: Sessions,
): Promise<void> {
  let sessionCount = 0;

  /** A cache may not know yet that a use elsewhere has moved the end, ahead or with a clock that was set back. */
  function assertLive(found: LiveSession | undefined, expires: number, behindMs: number): void {
    if (seesAtOnce) assert.equal(found?.expires, expires);
    else assert.ok(found !== undefined && found.expires <= expires + behindMs);
  }

  await fc.assert(
    fc.asyncProperty(steps, async (walk) => {
      sessionCount += 1;
      const id = `walk-${sessionCount}`;
      let { now } = await store.create(newSession(id), sessionTimes);
      const model = new CookieBook(now);
      let behindMs = 0;
      for (const step of walk) {
        if (step.kind === 'wait') {
          await advance(step.ms);
          now += step.ms;
        } else if (step.kind === 'set back') {
          if (behindMs > 0) continue;
          behindMs = setBackMs;
          stepClock(-setBackMs);
        } else {
          const generation = step.kind === 'previous' ? model.previous() : model.newest - step.back;
          const tabs = Array.from({ length: step.tabs }, (_, tab) =>
            (step.elsewhere && tab % 2 === 0 ? second : store).present(id, generation, sessionTimes),
          );
          const outcomes = (await Promise.all(tabs)).map((response) =>
            response.outcome === 'current' ? response.session.generation : response.outcome,
          );
          // Which one comes first is random: those that find the session ended by it can't know.
          const expected = outcomes.map(() => model.present(generation, now, now - behindMs));
          assert.deepEqual(outcomes.sort(), expected.sort());
        }
        for (const each of [store, second]) {
          if (model.isAlive(now - behindMs)) assertLive(await each.findLive(id), model.expires, behindMs);
          // A cache may hold the end of before the clock was set back, for as long as it holds anything.
          else if (model.ended || behindMs === 0 || seesAtOnce) assert.ok(await isGone(each, id, seesAtOnce));
        }
      }
      stepClock(behindMs);
    }),
    { numRuns: process.env.POSTERN_TEST_LONG === undefined ? 150 : 1_000 },
  );
}
