import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { LiveSession, Sessions } from '../../src/stores/sessions.ts';
import { newSession, sessionTimes } from './fixtures.ts';
import { isGone, type SessionsUnderTest } from './sessions-under-test.ts';

type Step =
  | { readonly kind: 'wait'; readonly ms: number }
  /**
   * Presents the cookie `back` generations behind the newest (ahead of it when negative: the store has lost writes), in
   * as many tabs at once as `tabs`, every other one at a second process when `elsewhere`.
   */
  | { readonly kind: 'present'; readonly back: number; readonly tabs: number; readonly elsewhere: boolean }
  /** Presents the cookie that the newest one replaced. */
  | { readonly kind: 'previous'; readonly tabs: number; readonly elsewhere: boolean };

const { idleLifetimeMs, absoluteLifetimeMs, reuseGraceMs: grace } = sessionTimes;

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
  ),
  { minLength: 5, maxLength: 25 },
);

/** The contract's sentences on refresh cookies, as a record of every cookie ever issued. */
class CookieBook {
  readonly cookies = new Map<number, { from: number; made: number; firstSeen: number | undefined }>();
  newest = 1;
  ended = false;
  readonly created: number;
  lastUsed: number;

  constructor(now: number) {
    this.created = now;
    this.lastUsed = now;
    this.cookies.set(1, { from: 0, made: now, firstSeen: now });
  }

  expires(): number {
    return Math.min(this.lastUsed + idleLifetimeMs, this.created + absoluteLifetimeMs);
  }

  isAlive(now: number): boolean {
    return !this.ended && now < this.expires();
  }

  /** The generation that the newest one replaced. */
  previous(): number {
    return this.cookies.get(this.newest)!.from;
  }

  /** The generation in the response, or why there is none. */
  present(generation: number, now: number): number | 'reused' | 'gone' {
    if (!this.isAlive(now) || generation < 1) return 'gone';
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
    this.lastUsed = now;
    return this.newest;
  }

  #makeFrom(generation: number, now: number): void {
    this.newest += 1;
    this.cookies.set(this.newest, { from: generation, made: now, firstSeen: undefined });
  }
}

/** Walks at random through refreshes on two connections; every response must be the model's. */
export async function checkRotationAgainstModel(
  { store, advance, seesAtOnce }: SessionsUnderTest,
  second: Sessions,
): Promise<void> {
  let sessionCount = 0;

  /** A cache may not know yet that a use elsewhere has moved the end. */
  function assertLive(found: LiveSession | undefined, expires: number): void {
    if (seesAtOnce) assert.equal(found?.expires, expires);
    else assert.ok(found !== undefined && found.expires <= expires);
  }

  await fc.assert(
    fc.asyncProperty(steps, async (walk) => {
      sessionCount += 1;
      const id = `walk-${sessionCount}`;
      let { now } = await store.create(newSession(id), sessionTimes);
      const model = new CookieBook(now);
      for (const step of walk) {
        if (step.kind === 'wait') {
          await advance(step.ms);
          now += step.ms;
        } else {
          const generation = step.kind === 'previous' ? model.previous() : model.newest - step.back;
          const tabs = Array.from({ length: step.tabs }, (_, tab) =>
            (step.elsewhere && tab % 2 === 0 ? second : store).present(id, generation, sessionTimes),
          );
          const outcomes = (await Promise.all(tabs)).map((response) =>
            response.outcome === 'current' ? response.session.generation : response.outcome,
          );
          // Which one comes first is random: those that find the session ended by it can't know.
          const expected = outcomes.map(() => model.present(generation, now));
          assert.deepEqual(outcomes.sort(), expected.sort());
        }
        for (const each of [store, second]) {
          if (!model.isAlive(now)) assert.ok(await isGone(each, id, seesAtOnce));
          else assertLive(await each.findLive(id), model.expires());
        }
      }
    }),
    { numRuns: process.env.POSTERN_TEST_LONG === undefined ? 150 : 1_000 },
  );
}
