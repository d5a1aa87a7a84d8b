import t from 'tap';
import type { AuditEventName } from '../../src/log/audit-events.ts';
import type { AuditEntry } from '../../src/log/log.ts';
import type { RemovedApiKey } from '../../src/stores/api-key.ts';
import type { AuditDraft, AuditEvent, AuditOf, AuditQuery } from '../../src/stores/audit.ts';
import type { FieldFilter } from '../../src/stores/list-query.ts';
import type { Records } from '../../src/stores/records.ts';
import { createApiKey, createUser } from '../support/administration/record-changes.ts';
import { hashOf, newKey, newUser, startOfTime } from './fixtures.ts';
import type { RecordsFactory } from './records-suite.ts';

const byKey = { user: 'u', key: 'k', kind: 'api_key' } as const;

function draft(event: string, changes: Partial<AuditDraft> = {}): AuditDraft {
  return {
    // The store takes any name.
    event: event as AuditEventName,
    outcome: 'success',
    actor: { user: 'u', session: 's', kind: 'session' },
    subject: null,
    target: { type: 'user', id: 'target' },
    changes: { fields: ['email'] },
    address: '192.0.2.1',
    requestId: 'r',
    ...changes,
  };
}

/** Lines that are the same whatever the change comes to, and what was handed back of them. */
function auditOf(...drafts: readonly AuditDraft[]) {
  const written: AuditEntry[] = [];
  const audit: AuditOf<unknown> = { drafts: () => drafts, onWritten: (entries) => written.push(...entries) };
  return { audit, written };
}

const add = (store: Records, ...drafts: readonly AuditDraft[]) =>
  store.addAuditEvents(auditOf(...drafts).audit);

const everything: AuditQuery = { sortBy: 'time', sortOrder: 'asc', filters: [], size: 100 };

async function eventsOf(store: Records, query: Partial<AuditQuery> = {}): Promise<readonly AuditEvent[]> {
  return (await store.listAuditEvents({ ...everything, ...query })).items;
}

const namesOf = (events: readonly AuditEvent[]) => events.map(({ event }) => event);

/** What every records store must do with audit events. */
export function runAuditSuite({ name, create }: RecordsFactory): void {
  t.test(`${name}: an audit event is given back whole`, async (t) => {
    const { store } = await create(t);
    const repeated = { count: 3, first: 1, last: 2 };
    const { audit, written } = auditOf(
      draft('one', {
        userAgent: 'curl',
        reason: 'conflict',
        changes: { scopes: { added: ['a'], removed: [] } },
      }),
      draft('two', { actor: byKey, target: null, changes: null, address: null, requestId: null, repeated }),
      draft('three', { actor: { user: null, kind: 'system' } }),
    );
    await store.addAuditEvents(audit);
    const events = await eventsOf(store);
    t.match(events, [
      {
        seq: 1,
        time: startOfTime,
        event: 'one',
        outcome: 'success',
        actor: { user: 'u', session: 's', kind: 'session' },
        target: { type: 'user', id: 'target' },
        changes: { scopes: { added: ['a'], removed: [] } },
        reason: 'conflict',
        address: '192.0.2.1',
        userAgent: 'curl',
        requestId: 'r',
      },
      {
        seq: 2,
        event: 'two',
        actor: byKey,
        target: null,
        changes: null,
        address: null,
        requestId: null,
        repeated,
      },
      { seq: 3, event: 'three', actor: { user: null, kind: 'system' } },
    ]);
    t.strictSame(
      written.map(({ id, time }) => ({ id, time })),
      events.map(({ id, time }) => ({ id, time })),
      'handed back as they are kept',
    );
    t.strictSame(await store.findAuditEvent(events[1]!.id), events[1]);
    t.equal(await store.findAuditEvent('nothing'), undefined);
  });

  t.test(`${name}: a change and its audit event are there together or not at all`, async (t) => {
    const { store } = await create(t);
    const { audit, written } = auditOf(draft('made'));
    await createUser(store, newUser('u'), 'u', audit);
    t.strictSame(namesOf(await eventsOf(store)), ['made']);
    await t.rejects(createUser(store, newUser('v'), 'u', audit), { code: 'conflict' });
    t.equal(written.length, 1, 'nothing is handed back of what was rolled back');
    const failing: AuditOf<unknown> = {
      drafts() {
        throw new Error('no line');
      },
      onWritten: () => t.fail('nothing was written'),
    };
    await t.rejects(createApiKey(store, newKey('k', { createdBy: 'u' }), hashOf('k'), failing), {
      message: 'no line',
    });
    t.equal(await store.findApiKey('k'), undefined, 'no change without its line');
    t.strictSame(namesOf(await eventsOf(store)), ['made']);
  });

  t.test(`${name}: the lines of a change are made from its result`, async (t) => {
    const { store } = await create(t);
    await createUser(store, newUser('owner'), 'owner');
    await createApiKey(store, newKey('a', { label: 'ci' }), hashOf('a'));
    await createApiKey(store, newKey('b', { parent: 'a', label: 'its child' }), hashOf('b'));
    const audit: AuditOf<readonly RemovedApiKey[]> = {
      drafts: (keys) =>
        keys.map(({ id, label }) => draft('gone', { target: { type: 'api_key', id, label } })),
      onWritten: () => {},
    };
    await store.deleteApiKey('nothing', { children: true }, audit);
    await store.deleteApiKey('a', { children: true }, audit);
    const targets = (await eventsOf(store)).map(({ target }) => target!);
    t.strictSame(
      targets.toSorted((one, other) => (one.id < other.id ? -1 : 1)),
      [
        { type: 'api_key', id: 'a', label: 'ci' },
        { type: 'api_key', id: 'b', label: 'its child' },
      ],
      'their labels are kept',
    );
  });

  t.test(`${name}: numbers are given once, in the order of commits, and time never falls`, async (t) => {
    const { store, openSecond, advance } = await create(t);
    const second = await openSecond();
    await advance(1_000);
    await add(store, draft('later'));
    await advance(-500);
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => add(index % 2 ? store : second, draft('x'), draft('y'))),
    );
    const events = await eventsOf(store);
    t.strictSame(
      events.map(({ seq }) => seq),
      Array.from({ length: 41 }, (_, index) => index + 1),
    );
    t.ok(events.every(({ time }) => time === startOfTime + 1_000));
    t.equal((await store.listAuditEvents(everything)).last, 41);
  });

  t.test(`${name}: audit events are filtered`, async (t) => {
    const { store, advance } = await create(t);
    await add(store, draft('a'));
    await advance(10);
    await add(store, draft('b', { outcome: 'failure', actor: byKey, requestId: 'other' }));
    await advance(10);
    await add(store, draft('c', { target: null, address: '2001:db8::1' }));
    const filtered = async (...filters: AuditQuery['filters']) => namesOf(await eventsOf(store, { filters }));
    const is = (field: string, value: string): FieldFilter<never> => ({
      field: field as never,
      operator: 'eq',
      value,
    });
    t.strictSame(await filtered(is('event', 'b')), ['b']);
    t.strictSame(await filtered(is('outcome', 'success')), ['a', 'c']);
    t.strictSame(await filtered(is('actor', 'u')), ['a', 'b', 'c'], 'by the user');
    t.strictSame(await filtered(is('actor', 'k')), ['b'], 'by the key');
    t.strictSame(await filtered(is('actor', 's')), ['a', 'c'], 'by the session');
    t.strictSame(await filtered(is('target', 'target')), ['a', 'b']);
    t.strictSame(await filtered(is('address', '2001:db8::1')), ['c']);
    t.strictSame(await filtered(is('request_id', 'other')), ['b']);
    t.strictSame(await filtered({ field: 'time', operator: 'gt', value: startOfTime }), ['b', 'c']);
    t.strictSame(
      await filtered({ field: 'time', operator: 'lte', value: startOfTime + 10 }, is('outcome', 'failure')),
      ['b'],
    );
  });

  t.test(
    `${name}: the oldest audit events go first, by age, by number, and those that count refusals`,
    async (t) => {
      const { store, advance } = await create(t);
      const repeated = { count: 1, first: 1, last: 1 };
      await add(store, draft('old'));
      await advance(1_000);
      await add(store, ...Array.from({ length: 3 }, (_, index) => draft(`probe ${index}`, { repeated })));
      await add(store, ...Array.from({ length: 20 }, (_, index) => draft(`event ${index}`)));
      const prune = (since: number, maxEvents: number) => store.pruneAuditEvents({ since, maxEvents });
      await prune(0, 1_000);
      t.match(await store.listAuditEvents(everything), { total: 24, dropped: 0, last: 24 });
      await prune(startOfTime + 1, 1_000);
      t.match(await store.listAuditEvents(everything), { total: 23, dropped: 1, last: 24 });
      await prune(0, 23);
      t.strictSame(namesOf(await eventsOf(store)).slice(0, 2), ['probe 1', 'probe 2'], 'a tenth of all');
      await prune(0, 10);
      t.match(await store.listAuditEvents(everything), { total: 10, dropped: 14, last: 24 });
      t.strictSame(namesOf(await eventsOf(store)).slice(0, 1), ['event 10']);
      await add(store, draft('next'));
      t.match((await eventsOf(store)).at(-1), { seq: 25 }, 'numbers go on');
    },
  );

  t.test(`${name}: more events than one transaction drops are dropped`, async (t) => {
    const { store, advance } = await create(t);
    const batch = Array.from({ length: 600 }, () => draft('x'));
    await add(store, ...batch);
    await advance(10);
    await add(store, ...batch);
    await store.pruneAuditEvents({ since: startOfTime + 5, maxEvents: 10_000 });
    t.match(await store.listAuditEvents(everything), { total: 600, dropped: 600 });
    await store.pruneAuditEvents({ since: 0, maxEvents: 10 });
    t.match(await store.listAuditEvents(everything), { total: 10, dropped: 1_190 });
  });
}
