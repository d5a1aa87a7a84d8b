import t from 'tap';
import type { AuditEventName } from '../../src/log/audit-events.ts';
import type { AuditDraft, AuditEvent, AuditQuery } from '../../src/stores/audit.ts';
import type { FieldFilter, ListPosition } from '../../src/stores/list-query.ts';
import type { Records } from '../../src/stores/records.ts';
import type { RecordsFactory } from './records-suite.ts';

const isLong = process.env.POSTERN_TEST_LONG !== undefined;
const eventsPerWriter = isLong ? 500 : 40;
const writers = 6;
const afterAnyId = '~';

function draft(event: string, target: string): AuditDraft {
  return {
    event: event as AuditEventName,
    outcome: 'success',
    actor: { user: 'u', kind: 'system' },
    subject: null,
    target: { type: 'user', id: target },
    address: null,
    requestId: null,
  };
}

/** Reads what there is after a position, as a feed does: page by page until one is empty. */
class Feed {
  readonly #store: Records;
  readonly #filters: AuditQuery['filters'];
  #from: ListPosition | undefined;
  readonly seen: AuditEvent[] = [];

  constructor(store: Records, filters: AuditQuery['filters'] = []) {
    this.#store = store;
    this.#filters = filters;
  }

  async catchUp(): Promise<void> {
    for (;;) {
      const order = { sortBy: 'time', sortOrder: 'asc', filters: this.#filters } as const;
      const page = await this.#store.listAuditEvents({ ...order, from: this.#from, size: 7 });
      this.seen.push(...page.items);
      const end = page.items.at(-1);
      // As the endpoint does: after the last page comes what has not been numbered yet.
      this.#from = page.after && end ? { value: end.seq, id: end.id } : { value: page.last, id: afterAnyId };
      if (!page.after) return;
    }
  }
}

/** What following the audit must be, whoever writes at the same time. */
export function runAuditFeedSuite({ name, create }: RecordsFactory): void {
  t.test(
    `${name}: following the audit under several writers misses nothing and repeats nothing`,
    async (t) => {
      const { store, openSecond } = await create(t);
      const second = await openSecond();
      const even: FieldFilter<'event'> = { field: 'event', operator: 'eq', value: 'even' };
      const feeds = [new Feed(store), new Feed(second), new Feed(second, [even])];
      let isWriting = true;
      const following = feeds.map(async (feed) => {
        while (isWriting) {
          await feed.catchUp();
          await new Promise((resolve) => setImmediate(resolve));
        }
        await feed.catchUp();
      });
      await Promise.all(
        Array.from({ length: writers }, async (_, writer) => {
          const to = writer % 2 ? store : second;
          for (let count = 0; count < eventsPerWriter; count += 1) {
            const drafts = [draft(count % 2 ? 'odd' : 'even', `${writer}/${count}`)];
            await to.addAuditEvents({ drafts: () => drafts, onWritten() {} });
          }
        }),
      );
      isWriting = false;
      await Promise.all(following);
      const all = writers * eventsPerWriter;
      for (const feed of feeds.slice(0, 2)) {
        t.strictSame(
          feed.seen.map(({ seq }) => seq),
          Array.from({ length: all }, (_, index) => index + 1),
          'every number once, in order',
        );
        t.equal(new Set(feed.seen.map(({ target }) => target?.id)).size, all);
        t.ok(feed.seen.every(({ time }, index) => index === 0 || time >= feed.seen[index - 1]!.time));
        for (let writer = 0; writer < writers; writer += 1) {
          const own = feed.seen.flatMap(({ target }) => {
            const [by, count] = target!.id.split('/').map(Number);
            return by === writer ? [count] : [];
          });
          t.strictSame(
            own,
            Array.from({ length: eventsPerWriter }, (_, index) => index),
            'in the order in which a writer wrote them',
          );
        }
      }
      t.equal(feeds[2]!.seen.length, all / 2);
      t.ok(feeds[2]!.seen.every(({ event }) => event === 'even'));
    },
  );

  t.test(`${name}: an event that is written again under its id is kept once`, async (t) => {
    const { store } = await create(t);
    const again = { ...draft('once', 'target'), id: 'the id of the event' };
    for (let count = 0; count < 2; count += 1)
      await store.addAuditEvents({ drafts: () => [again, draft('other', 'target')], onWritten() {} });
    const feed = new Feed(store);
    await feed.catchUp();
    t.strictSame(
      feed.seen.map(({ event }) => event),
      ['once', 'other', 'other'],
    );
  });

  t.test(
    `${name}: lines for the log of a gateway are taken once, and only of what was committed`,
    async (t) => {
      const { store } = await create(t);
      const drafts = [draft('one', 'a'), draft('two', 'b')];
      await store.addAuditEvents({ drafts: () => drafts, onWritten() {}, isForGateways: true });
      await store.addAuditEvents({ drafts: () => [draft('three', 'c')], onWritten() {} });
      const feed = new Feed(store);
      await feed.catchUp();
      const taken = (await store.takeCommandEvents()).map((line) => JSON.parse(line));
      t.strictSame(
        taken.map(({ id, event, time }) => ({ id, event, time })),
        feed.seen.slice(0, 2).map(({ id, event, time }) => ({ id, event, time })),
        'with the id and time they are kept under',
      );
      t.strictSame(await store.takeCommandEvents(), []);
    },
  );
}
