import { setTimeout as sleep } from 'node:timers/promises';
import { afterAnyId, presentAuditEvent } from '../administration/audit.ts';
import { jsonText } from '../log/json-text.ts';
import { personName } from '../log/person-name.ts';
import type { AuditEvent } from '../stores/audit.ts';
import type { ListPosition } from '../stores/list-query.ts';
import { type Call, Failure } from './command.ts';
import { type Column, layOut, printTable, tableWidth } from './table.ts';
import { firstSignal, readableTime, writeOut } from './terminal.ts';
import { type CommandContext, withStores } from './with-stores.ts';

const defaultLimit = 100;
const maxLimit = 100_000;
const pageSize = 100;
/** Interval at which new events are asked for, ms. */
const pollIntervalMs = 1_000;

/** `audit list`: prints the newest events, oldest first; with `--follow`, also later events until it is interrupted. */
export async function listAudit(call: Call): Promise<void> {
  const limit = requireLimit(call.text('limit'));
  const isFollowing = call.isSet('follow');
  // Before anything slow, so that even an early signal ends the command in order.
  const stopped = isFollowing ? firstSignal(call.terminal) : Promise.resolve();
  await withStores(call, async (context) => {
    const { events, last } = await newest(context, call.text('event'), limit);
    const names = createNames(context, call.terminal);
    if (!isFollowing) {
      const rows = await Promise.all(events.map((event) => rowOf(event, names)));
      const none = 'There are no audit events.';
      await printTable(call, events.map(presentAuditEvent), { columns, rows, none });
      return;
    }
    const { head, linesOf } = layOut(columns, [usualRow], tableWidth(call.terminal));
    const print = async (event: AuditEvent) => {
      const lines = call.isSet('json')
        ? [jsonText(presentAuditEvent(event))]
        : linesOf(await rowOf(event, names));
      await writeOut(call.terminal, `${lines.join('\n')}\n`);
    };
    if (!call.isSet('json')) await writeOut(call.terminal, `${head.join('\n')}\n`);
    for (const event of events) await print(event);
    await follow(call, context, { value: last, id: afterAnyId }, { print, stopped });
  });
}

function requireLimit(text: string | undefined): number {
  if (text === undefined) return defaultLimit;
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > maxLimit)
    throw new Failure('usage', `--limit must be a whole number from 1 to ${maxLimit}`);
  return limit;
}

/** The newest events, oldest first, and the number of the last event of any kind at that moment. */
async function newest(
  { records }: CommandContext,
  event: string | undefined,
  limit: number,
): Promise<{ readonly events: readonly AuditEvent[]; readonly last: number }> {
  const found: AuditEvent[] = [];
  let from: ListPosition | undefined;
  let newestNumber: number | undefined;
  while (found.length < limit) {
    const size = Math.min(limit - found.length, pageSize);
    const order = { sortBy: 'time', sortOrder: 'desc' } as const;
    const page = await records.listAuditEvents({ ...order, filters: filtersOf(event), from, size });
    newestNumber ??= page.last;
    found.push(...page.items);
    const oldest = page.items.at(-1);
    if (!page.after || oldest === undefined) break;
    from = { value: oldest.seq, id: oldest.id };
  }
  return { events: found.reverse(), last: newestNumber ?? 0 };
}

function filtersOf(event: string | undefined) {
  return event === undefined ? [] : [{ field: 'event', operator: 'eq', value: event } as const];
}

/** Prints each event after that position, once and in order, until `stopped` resolves. */
async function follow(
  call: Call,
  { records }: CommandContext,
  start: ListPosition,
  {
    print,
    stopped,
  }: { readonly print: (event: AuditEvent) => Promise<void>; readonly stopped: Promise<void> },
): Promise<void> {
  const ending = new AbortController();
  void stopped.then(() => ending.abort());
  const order = { sortBy: 'time', sortOrder: 'asc', filters: filtersOf(call.text('event')) } as const;
  let from = start;
  while (!ending.signal.aborted) {
    const { items } = await records.listAuditEvents({ ...order, from, size: pageSize });
    for (const event of items) {
      await print(event);
      from = { value: event.seq, id: event.id };
    }
    if (items.length < pageSize)
      await sleep(pollIntervalMs, undefined, { signal: ending.signal }).catch(() => {});
  }
}

const columns: readonly Column[] = [
  { title: 'TIME' },
  { title: 'EVENT' },
  { title: 'OUTCOME', leaves: 4, goesBelow: true },
  { title: 'ACTOR', wraps: true },
  { title: 'TARGET', wraps: true, leaves: 2, goesBelow: true },
  { title: 'ADDRESS', leaves: 3, goesBelow: true },
  { title: 'DETAIL', wraps: true, leaves: 1, goesBelow: true },
];
/** Words as long as most, for the layout of `--follow`, when later events are unknown. */
const usualRow = [[20], [22], [7], [16], [16, 8], [15], [16, 16, 16]].map((words) =>
  words.map((length) => 'x'.repeat(length)).join(' '),
);

async function rowOf(event: AuditEvent, { nameOf, shownId }: Names): Promise<string[]> {
  const { target, changes, repeated } = event;
  const detail = [
    event.reason,
    changes?.fields?.join(','),
    ...differences('', changes?.scopes),
    ...differences('set ', changes?.scope_sets),
    repeated && `${repeated.count} ${repeated.count === 1 ? 'time' : 'times'}`,
  ];
  return [
    readableTime(event.time),
    event.event,
    event.outcome,
    await actorOf(event, nameOf),
    target === null
      ? ''
      : target.type === 'user'
        ? await nameOf(target.id)
        : `${target.type} ${shownId(target.id)}${target.label === undefined ? '' : ` ${jsonText(target.label)}`}`,
    event.address ?? '',
    detail.filter((part) => part !== undefined && part !== '').join(' '),
  ];
}

function differences(
  kind: string,
  change: { readonly added: readonly string[]; readonly removed: readonly string[] } | undefined,
): string[] {
  const { added = [], removed = [] } = change ?? {};
  return [...added.map((name) => `+${kind}${name}`), ...removed.map((name) => `-${kind}${name}`)];
}

async function actorOf({ actor, event }: AuditEvent, nameOf: Names['nameOf']): Promise<string> {
  if (actor.user !== null) return nameOf(actor.user);
  // No one else makes a user without a credential.
  return actor.kind === 'anonymous' && event === 'user_created' ? 'bootstrap token' : actor.kind;
}

/** The words that stand for ids in a row. */
interface Names {
  /** The name of a user, as it is shown among other words; a removed user's id stands for it. */
  readonly nameOf: (id: string) => Promise<string>;
  readonly shownId: (id: string) => string;
}

/** Creates the words for ids; each user is read once. On a terminal an id is its end alone, which tells ids of one time apart. */
function createNames({ records }: CommandContext, { stdout }: Call['terminal']): Names {
  const names = new Map<string, string>();
  const shownId = (id: string) => (stdout.isTTY && id.length > longestShown ? `…${id.slice(-6)}` : id);
  async function nameOf(id: string): Promise<string> {
    const known = names.get(id);
    if (known !== undefined) return known;
    const user = (await records.findUser(id))?.user;
    const name = user === undefined ? shownId(id) : personName(user.username);
    names.set(id, name);
    return name;
  }
  return { nameOf, shownId };
}

/** Length of the longest id that is a word, such as that of the built-in scope set, or a number. */
const longestShown = 16;
