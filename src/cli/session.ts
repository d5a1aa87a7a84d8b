import { operator } from '../administration/caller.ts';
import {
  LiveSessionFinder,
  type OwnedSession,
  positionOf,
  presentSession,
} from '../administration/live-sessions.ts';
import { endAllSessions, endSession, endSessionsOfUser } from '../administration/sessions.ts';
import { jsonText } from '../log/json-text.ts';
import type { SessionFilters } from '../stores/sessions.ts';
import { clientName } from './client-name.ts';
import { type Call, Failure } from './command.ts';
import { refusedAs } from './failures.ts';
import { allPages, requireUser } from './lookups.ts';
import { type Column, printTable } from './table.ts';
import { printResult, readableMinute } from './terminal.ts';
import { isGone } from './user/with-user.ts';
import { type CommandContext, withStores } from './with-stores.ts';

/** `session list`: prints the live sessions, or those of a user, newest first. */
export async function listSessions(call: Call): Promise<void> {
  await withStores(call, async (context) => {
    const name = call.text('user');
    const filters = name === undefined ? {} : { userId: (await requireUser(context, name)).id };
    const found = await allSessions(context, filters);
    const sessions = found.map((one) => presentSession(one, { holdings: context.holdings, hydrate: true }));
    const rows = sessions.map(({ id, method, created, last_used, expires, address, user_agent }, index) => [
      ...[id, found[index]!.owner.user.username, clientName(user_agent)],
      ...[last_used, expires, created].map((time) => readableMinute(time, '')),
      ...[address, method],
    ]);
    await printTable(call, sessions, { columns, rows, none: 'There are no sessions.' });
  });
}

const columns: readonly Column[] = [
  { title: 'ID' },
  { title: 'USER', wraps: true },
  { title: 'CLIENT', wraps: true },
  { title: 'LAST USED' },
  { title: 'EXPIRES', leaves: 3, goesBelow: true },
  { title: 'CREATED', leaves: 1, goesBelow: true },
  { title: 'ADDRESS', leaves: 4, goesBelow: true },
  { title: 'METHOD', leaves: 2, goesBelow: true },
];

/** `session revoke ID | --user NAME | --all`: ends these sessions in every gateway on the stores. */
export async function revokeSessions(call: Call): Promise<void> {
  const [id] = call.operands;
  const name = call.text('user');
  const isAll = call.isSet('all');
  if ([id !== undefined, name !== undefined, isAll].filter(Boolean).length !== 1)
    throw new Failure('usage', 'session revoke takes one of ID, --user NAME and --all');
  await withStores(call, async (context) => {
    if (id !== undefined) {
      await revokeOne(context, id);
      await printResult(call, [id], endedText([id]));
      return;
    }
    const ended =
      name === undefined
        ? await (await endAllSessions(context, operator)).removed
        : await revokeAllOf(context, name);
    await printResult(call, ended ?? [], endedText(ended));
  });
}

function endedText(ended: readonly string[] | undefined): string {
  if (ended === undefined) return 'All of them have ended; how many there were is unknown.';
  return ended.length === 1 ? '1 session has ended.' : `${ended.length} sessions have ended.`;
}

async function revokeOne(context: CommandContext, id: string): Promise<void> {
  const unavailable =
    "the session store is unavailable, so the session goes on; --user NAME ends all of a user's without it";
  const { actor, origin } = operator;
  const ended = await endSession(context, id, origin, () => ({ actor })).catch(
    refusedAs('store_unavailable', unavailable),
  );
  if (ended === undefined)
    throw new Failure('failed', `no live session with id ${jsonText(id)}: session list shows the ids`);
}

/** Ends all sessions of a user; resolves to the ids of those in the session store, or to undefined if it is unavailable. */
async function revokeAllOf(context: CommandContext, name: string): Promise<readonly string[] | undefined> {
  const user = await requireUser(context, name);
  const { isUser, removed } = await endSessionsOfUser(context, operator, user.id);
  if (!isUser) throw isGone(user);
  return removed;
}

function allSessions(
  { sessions, records }: CommandContext,
  filters: SessionFilters,
): Promise<readonly OwnedSession[]> {
  const finder = new LiveSessionFinder(sessions, records);
  const order = { sortBy: 'created', sortOrder: 'desc' } as const;
  return allPages(
    (from, size) => finder.list({ ...order, filters, from, size }),
    (found) => positionOf(found, 'created'),
  );
}
