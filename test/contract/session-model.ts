import type { Comparison, ListPage } from '../../src/stores/list-query.ts';
import type { Session, SessionQuery } from '../../src/stores/sessions.ts';

const compare: Readonly<Record<Comparison, (a: number, b: number) => boolean>> = {
  gt: (a, b) => a > b,
  gte: (a, b) => a >= b,
  lt: (a, b) => a < b,
  lte: (a, b) => a <= b,
};

/** The instant that a session is sorted by. */
export function instantOf({ created, lastUsed }: Session, sortBy: SessionQuery['sortBy']): number {
  return sortBy === 'created' ? created : lastUsed;
}

function passes(session: Session, { filters, sortBy }: SessionQuery): boolean {
  const { userId, method, range = {} } = filters;
  return (
    (userId === undefined || session.userId === userId) &&
    (method === undefined || session.method === method) &&
    Object.entries(range).every(([comparison, instant]) =>
      compare[comparison as Comparison](instantOf(session, sortBy), instant),
    )
  );
}

/** The page that a query for it should give, by brute force. */
export function expectedPage(sessions: readonly Session[], query: SessionQuery): ListPage<Session> {
  const { sortBy, sortOrder, from, inclusive = false, backwards = false, size } = query;
  const sign = sortOrder === 'asc' ? 1 : -1;
  const orderOf = (instant: number, id: string, other: Session) =>
    sign * (instant - instantOf(other, sortBy) || Buffer.compare(Buffer.from(id), Buffer.from(other.id)));
  const all = sessions
    .filter((session) => passes(session, query))
    .sort((a, b) => orderOf(instantOf(a, sortBy), a.id, b));
  if (from === undefined) {
    const items = backwards ? all.slice(-size) : all.slice(0, size);
    return { items, total: all.length, ...around(all, backwards ? all.length - items.length : 0, items) };
  }
  const order = (session: Session) => orderOf(from.value as number, from.id, session);
  const before = all.filter(
    (session) => order(session) > 0 || (inclusive === backwards && order(session) === 0),
  );
  const [start, end] = backwards
    ? [Math.max(0, before.length - size), before.length]
    : [before.length, before.length + size];
  const items = all.slice(start, end);
  return { items, total: all.length, ...around(all, start, items) };
}

function around(all: readonly Session[], start: number, items: readonly Session[]) {
  return { before: start > 0, after: start + items.length < all.length };
}
