import type { Test } from 'tap';

/** Something that a fuzzer saw and can't explain. */
export interface Alarm {
  /** What is wrong with it, the same words for the same kind. */
  readonly kind: string;
  /** By which it is found again: the bytes, and what was made of them. */
  readonly detail: string;
}

/** An alarm that was investigated and isn't a fault of the gateway. */
export interface KnownAlarm {
  readonly kind: string;
  /** What its detail holds, and that of no other. */
  readonly detail: RegExp;
  readonly reason: string;
}

/** Those that are not known. */
export function newAlarms(alarms: readonly Alarm[], known: readonly KnownAlarm[]): Alarm[] {
  const isKnown = (alarm: Alarm) =>
    known.some(({ kind, detail }) => kind === alarm.kind && detail.test(alarm.detail));
  return alarms.filter((alarm) => !isKnown(alarm));
}

/** Fails with every alarm that is not known, a few of each kind. */
export function assertNoNewAlarm(t: Test, alarms: readonly Alarm[], known: readonly KnownAlarm[]): void {
  const fresh = newAlarms(alarms, known);
  t.comment(`${alarms.length} alarms, ${fresh.length} of them new`);
  const shown = new Map<string, number>();
  for (const { kind, detail } of fresh) {
    const count = (shown.get(kind) ?? 0) + 1;
    shown.set(kind, count);
    if (count <= 5) t.fail(kind, { detail });
  }
  t.same(Object.fromEntries(shown), {}, 'no alarm is new');
}
