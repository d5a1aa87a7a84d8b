import { uuidv7 } from 'uuidv7';
import type { AuditEntry } from '../../log/log.ts';
import type { Records } from '../records.ts';
import type { SqlDatabase } from './database.ts';
import { noteCommandEvents, run, type Steps } from './steps.ts';

/** The part of the records store for the events of commands. */
export type CommandEvents = Pick<Records, 'keepCommandEvents' | 'takeCommandEvents'>;

interface EventRow {
  readonly id: string;
  readonly entry: string;
}

const selectAny = 'SELECT id FROM command_events LIMIT 1';
const insertEvent = 'INSERT INTO command_events (id, entry) VALUES (?, ?)';
const takeEvents = 'DELETE FROM command_events RETURNING id, entry';

/** Steps that leave audit lines for the log of a gateway. */
export function* leaveForGateways(entries: readonly AuditEntry[]): Steps<void> {
  if (entries.length > 0) yield* keep(entries.map((entry) => JSON.stringify(entry)));
}

function* keep(entries: readonly string[]): Steps<void> {
  for (const entry of entries) yield* run(insertEvent, uuidv7(), entry);
  yield* noteCommandEvents();
}

/** The events of commands in SQL. */
export function createCommandEvents({ one, write }: SqlDatabase): CommandEvents {
  function* take(): Steps<readonly string[]> {
    const taken = yield* run<EventRow>(takeEvents);
    return taken.toSorted((one, other) => (one.id < other.id ? -1 : 1)).map(({ entry }) => entry);
  }

  return {
    keepCommandEvents: (entries) => write(() => keep(entries)),
    async takeCommandEvents() {
      // Mostly there are none, and a read locks nothing.
      const isAny = await one(selectAny, [], (row: object | undefined) => row !== undefined);
      return isAny ? write(take) : [];
    },
  };
}
