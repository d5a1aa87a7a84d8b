import { uuidv7 } from 'uuidv7';
import type { AuditEntry } from '../../log/log.ts';
import type { Records } from '../records.ts';
import type { SqlDatabase } from './database.ts';
import { noteCommandEvents, run, type Steps } from './steps.ts';

interface EventRow {
  readonly id: string;
  readonly entry: string;
}

const selectAny = 'SELECT id FROM command_events LIMIT 1';
const insertEvent = 'INSERT INTO command_events (id, entry) VALUES (?, ?)';
const takeEvents = 'DELETE FROM command_events RETURNING id, entry';

/**
 * Steps that leave audit entries for the log of a gateway. They can't be taken from the audit itself: each is written by
 * one gateway alone, is written even if the audit has dropped it by then, and is no concern of the audit afterwards.
 */
export function* leaveForGateways(entries: readonly AuditEntry[]): Steps<void> {
  if (entries.length === 0) return;
  for (const entry of entries) yield* run(insertEvent, uuidv7(), JSON.stringify(entry));
  yield* noteCommandEvents();
}

/** The events of commands in SQL. */
export function createCommandEvents({ one, write }: SqlDatabase) {
  function* take(): Steps<readonly string[]> {
    const taken = yield* run<EventRow>(takeEvents);
    return taken.toSorted((one, other) => (one.id < other.id ? -1 : 1)).map(({ entry }) => entry);
  }

  return {
    async takeCommandEvents() {
      // Mostly there are none, and a read locks nothing.
      const isAny = await one(selectAny, [], (row: object | undefined) => row !== undefined);
      return isAny ? write(take) : [];
    },
  } satisfies Partial<Records>;
}
