import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { LiveSession, Sessions } from '../../src/stores/sessions.ts';
import { newSession, sessionTimes } from './fixtures.ts';
import { isGone, type SessionsUnderTest } from './sessions-under-test.ts';

type Step =
  | { readonly kind: 'wait'; readonly ms: number }
  /** Presents the cookie `back` generations behind the newest (ahead of it when negative), to one of two processes. */
  | { readonly kind: 'present'; readonly back: number; readonly elsewhere: boolean };

const { idleLifetimeMs, absoluteLifetimeMs, reuseGraceMs: grace } = sessionTimes;

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.constantFrom(0, 1, grace / 2, grace - 1, grace, grace + 1, idleLifetimeMs - 1, idleLifetimeMs),
    }),
    fc.record({
      kind: fc.constant('present' as const),
      back: fc.constantFrom(0, 0, 0, 0, 1, 1, 1, 2, -1),
      elsewhere: fc.boolean(),
    }),
  ),
  { minLength: 5, maxLength: 25 },
);

/** The contract's sentences on refresh cookies as a book of every cookie ever made. */
class CookieBook {
  readonly cookies = new Map<number, { made: number; firstSeen: number | undefined }>();
  newest = 1;
  ended = false;
  readonly created: number;
  lastUsed: number;

  constructor(now: number) {
    this.created = now;
    this.lastUsed = now;
    this.cookies.set(1, { made: now, firstSeen: now });
  }

  expires(): number {
    return Math.min(this.lastUsed + idleLifetimeMs, this.created + absoluteLifetimeMs);
  }

  isAlive(now: number): boolean {
    return !this.ended && now < this.expires();
  }

  /** The generation that is answered, or why none is. */
  present(generation: number, now: number): number | 'reused' | 'gone' {
    if (!this.isAlive(now) || generation < 1) return 'gone';
    if (generation > this.newest) {
      this.cookies.set(generation, { made: now, firstSeen: now });
      this.newest = generation;
    } else {
      const newest = this.cookies.get(this.newest)!;
      const isSettled =
        newest.firstSeen !== undefined && now >= newest.made + grace && now >= newest.firstSeen + grace;
      if (generation === this.newest && isSettled) {
        this.newest += 1;
        this.cookies.set(this.newest, { made: now, firstSeen: undefined });
      } else if (generation === this.newest) {
        newest.firstSeen ??= now;
      } else if (generation < this.newest - 1 || isSettled) {
        this.ended = true;
        return 'reused';
      }
    }
    this.lastUsed = now;
    return this.newest;
  }
}

/** Walks at random through refreshes on two connections; every answer must be the model's. */
export async function checkRotationAgainstModel(
  { store, advance, seesAtOnce }: SessionsUnderTest,
  second: Sessions,
): Promise<void> {
  let sessionCount = 0;

  /** What is remembered may not know yet that a use elsewhere has moved the end. */
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
          const generation = model.newest - step.back;
          const answer = await (step.elsewhere ? second : store).present(id, generation, sessionTimes);
          const outcome = answer.outcome === 'current' ? answer.session.generation : answer.outcome;
          assert.equal(outcome, model.present(generation, now));
        }
        for (const each of [store, second]) {
          if (!model.isAlive(now)) assert.ok(await isGone(each, id, seesAtOnce));
          else assertLive(await each.findLive(id), model.expires());
        }
      }
    }),
    { numRuns: 150 },
  );
}
