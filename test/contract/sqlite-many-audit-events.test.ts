import Database from 'better-sqlite3';
import t from 'tap';
import type { AuditFilterField, AuditPage, AuditQuery } from '../../src/stores/audit.ts';
import type { FieldFilter, ListPosition } from '../../src/stores/list-query.ts';
import { startOfTime } from './fixtures.ts';
import { createSqliteRecordsUnderTest } from './sqlite-stores.ts';

const isLong = process.env.POSTERN_TEST_LONG !== undefined;
const eventCount = isLong ? 100_000 : 5_000;
/** The bound of one page, ms of CPU. */
const maxPageMs = 20;
const events = ['login_succeeded', 'session_revoked', 'request_refused', 'api_key_created', 'user_changed'];

interface Made {
  readonly seq: number;
  readonly id: string;
  readonly time: number;
  readonly event: string;
  readonly outcome: string;
  readonly user: string | null;
  readonly target: string;
  readonly address: string;
  readonly request: string;
}

function makeEvents(): Made[] {
  return Array.from({ length: eventCount }, (_, index) => ({
    seq: index + 1,
    id: `event-${String(index).padStart(6, '0')}`,
    time: startOfTime + Math.floor(index / 3),
    event: events[index % 5]!,
    outcome: index % 5 === 2 ? 'failure' : 'success',
    // One user has done most of it.
    user: index % 7 === 0 ? null : index % 10 === 0 ? `user-${index % 50}` : 'user-1',
    target: `target-${index % 1_000}`,
    address: `192.0.2.${index % 250}`,
    request: `request-${Math.floor(index / 2)}`,
  }));
}

function insertAll(file: string, made: readonly Made[]): void {
  const db = new Database(file);
  const insert = db.prepare(
    `INSERT INTO audit (seq, id, time, event, outcome, actor_kind, actor_user, actor_credential, target_type, target_id,
        address, request_id, is_probe, body)
      VALUES (@seq, @id, @time, @event, @outcome, 'session', @user, 'session-1', 'user', @target, @address, @request, 0,
        '{"changes":null}')`,
  );
  db.transaction(() => {
    for (const one of made) insert.run(one);
    db.prepare('UPDATE audit_state SET seq = ?, time = ?').run(made.length, made.at(-1)!.time);
  })();
  db.close();
}

const is = (field: AuditFilterField, value: string | number): FieldFilter<AuditFilterField> => ({
  field,
  operator: 'eq',
  value,
});
const cases: readonly [string, AuditQuery['filters'], (made: Made) => boolean][] = [
  ['no filter', [], () => true],
  ['an event', [is('event', 'user_changed')], ({ event }) => event === 'user_changed'],
  ['an outcome', [is('outcome', 'success')], ({ outcome }) => outcome === 'success'],
  ['the user who did most', [is('actor', 'user-1')], ({ user }) => user === 'user-1'],
  ['a user who did little', [is('actor', 'user-20')], ({ user }) => user === 'user-20'],
  ['the session of all', [is('actor', 'session-1')], () => true],
  ['a target', [is('target', 'target-77')], ({ target }) => target === 'target-77'],
  ['an address', [is('address', '192.0.2.9')], ({ address }) => address === '192.0.2.9'],
  ['a request', [is('request_id', 'request-800')], ({ request }) => request === 'request-800'],
  [
    'a time',
    [{ field: 'time', operator: 'gte', value: startOfTime + 500 }],
    ({ time }) => time >= startOfTime + 500,
  ],
];

t.test(
  `sqlite: ${eventCount} audit events are listed as brute force lists them, each page cheaply`,
  async (t) => {
    const { store, file } = createSqliteRecordsUnderTest(t);
    const made = makeEvents();
    insertAll(file, made);
    const spent = new Map<string, number>();

    async function read(name: string, query: AuditQuery): Promise<AuditPage> {
      const before = process.cpuUsage();
      const page = await store.listAuditEvents(query);
      const { user, system } = process.cpuUsage(before);
      spent.set(name, Math.min(spent.get(name) ?? Number.POSITIVE_INFINITY, (user + system) / 1_000));
      return page;
    }

    for (const [name, filters, matches] of cases) {
      for (const sortOrder of ['asc', 'desc'] as const) {
        const matching = made.filter(matches);
        if (sortOrder === 'desc') matching.reverse();
        const order = { sortBy: 'time', sortOrder, filters, size: 50 } as const;
        const after = (index: number): ListPosition => ({
          value: matching[index]!.seq,
          id: matching[index]!.id,
        });
        const middle = Math.floor(matching.length / 2);
        const end = matching.length - 1;
        const pages: readonly [string, AuditQuery, readonly Made[]][] = [
          ['first', order, matching.slice(0, 50)],
          ['middle', { ...order, from: after(middle) }, matching.slice(middle + 1, middle + 51)],
          ['last', { ...order, backwards: true }, matching.slice(-50)],
          ['beyond', { ...order, from: after(end) }, []],
        ];
        for (const [place, query, expected] of pages) {
          const what = `${name}, ${sortOrder}, ${place}`;
          // A machine that is busy may spend more on one of them.
          for (let count = 0; count < (isLong ? 3 : 1); count += 1) {
            const page = await read(what, query);
            t.equal(page.total, matching.length, what);
            t.strictSame(
              page.items.map(({ id }) => id),
              expected.map(({ id }) => id),
              what,
            );
          }
        }
      }
    }
    const dearest = [...spent].sort(([, one], [, other]) => other - one).slice(0, 5);
    for (const [what, milliseconds] of dearest) t.comment(`${what}: ${milliseconds} ms of CPU`);
    if (isLong) t.ok(dearest[0]![1] < maxPageMs, `no page takes ${maxPageMs} ms`);
  },
);
