import assert from 'node:assert/strict';
import t from 'tap';
import type { Session, SessionQuery, Sessions } from '../../src/stores/sessions.ts';
import { createRandom, type Random } from '../support/corpora/random.ts';
import { newSession, sessionTimes, startOfTime } from './fixtures.ts';
import { expectedPage, instantOf } from './session-model.ts';
import type { SessionsFactory, SessionsUnderTest } from './sessions-under-test.ts';

const users = ['user-1', 'user-2', 'user-3'];
const methods = ['password', 'idp', 'other-idp'];
const walkSteps = 400;

/** The sessions of a store and what they should be. */
class Walk {
  readonly #underTest: SessionsUnderTest;
  readonly #random: Random;
  #sessions = new Map<string, Session>();
  #now = startOfTime;
  #made = 0;

  constructor(underTest: SessionsUnderTest, random: Random) {
    this.#underTest = underTest;
    this.#random = random;
  }

  get #store(): Sessions {
    return this.#underTest.store;
  }

  live(): readonly Session[] {
    return [...this.#sessions.values()].filter(({ expires }) => expires > this.#now);
  }

  /** Changes something, most often by adding a session. */
  async step(): Promise<void> {
    const random = this.#random;
    const live = this.live();
    const some = live.length === 0 ? undefined : random.pick(live);
    switch (random.below(10)) {
      case 0:
        return this.#advance(random.pick([0, 1, 1, 5_000, sessionTimes.reuseGraceMs, 40_000]));
      case 1:
        if (some !== undefined) this.#end(await this.#store.revoke(some.id));
        return;
      case 2:
        if (random.oneIn(8))
          for (const id of await this.#store.revokeAllOf(random.pick(users))) this.#sessions.delete(id);
        return;
      case 3:
        if (some !== undefined) await this.#use(some);
        return;
      case 4:
        return this.#noteUses(live);
      default:
        return this.#add();
    }
  }

  /** One page from anywhere, as it is and as it should be. */
  async compare(): Promise<void> {
    const query = someQuery(this.#random, this.live(), this.#now);
    const page = await this.#store.list(query);
    assert.deepEqual(page, expectedPage(this.live(), query), JSON.stringify(query));
    assert.equal(await this.#store.countLive(), this.live().length);
  }

  async #advance(ms: number): Promise<void> {
    this.#now += ms;
    await this.#underTest.advance(ms);
  }

  async #add(): Promise<void> {
    this.#made += 1;
    // Ids in another order than time, as ids break ties; of several lengths.
    const id = `${(this.#made * 7919) % 10_007}`;
    const idleLifetimeMs = this.#random.pick([60_000, sessionTimes.idleLifetimeMs]);
    const { session } = await this.#store.create(
      { ...newSession(id, this.#random.pick(users)), method: this.#random.pick(methods) },
      { ...sessionTimes, idleLifetimeMs },
    );
    this.#sessions.set(id, session);
  }

  async #use({ id, generation }: Session): Promise<void> {
    const presentation = await this.#store.present(id, generation, sessionTimes);
    if (presentation.outcome === 'current') this.#sessions.set(id, presentation.session);
    else this.#sessions.delete(id);
  }

  /** Uses of some sessions, by the present clock or a little behind. */
  async #noteUses(live: readonly Session[]): Promise<void> {
    const random = this.#random;
    const { idleLifetimeMs, absoluteLifetimeMs } = sessionTimes;
    const used = live.filter(() => random.oneIn(3));
    const uses = new Map(used.map(({ id }) => [id, this.#now - random.pick([0, 1, 5_000])]));
    await this.#store.noteUse(uses, sessionTimes);
    for (const session of used) {
      const lastUsed = uses.get(session.id)!;
      const expires = Math.min(lastUsed + idleLifetimeMs, session.created + absoluteLifetimeMs);
      if (lastUsed > session.lastUsed) this.#sessions.set(session.id, { ...session, lastUsed, expires });
    }
  }

  #end(session: Session | undefined): void {
    if (session !== undefined) this.#sessions.delete(session.id);
  }
}

function someQuery(random: Random, live: readonly Session[], now: number): SessionQuery {
  const sortBy = random.pick(['created', 'last_used'] as const);
  const instant = () => now - random.pick([0, 1, 5_000, 30_000, 90_000]);
  const position = random.oneIn(3) || live.length === 0 ? undefined : random.pick(live);
  return {
    sortBy,
    sortOrder: random.pick(['asc', 'desc'] as const),
    filters: {
      ...(random.oneIn(3) && { userId: random.pick([...users, 'nobody']) }),
      ...(random.oneIn(3) && { method: random.pick([...methods, 'none']) }),
      ...(random.oneIn(3) && {
        range: {
          ...(random.oneIn(2) && { gte: instant() }),
          ...(random.oneIn(3) && { gt: instant() }),
          ...(random.oneIn(3) && { lte: instant() }),
          ...(random.oneIn(2) && { lt: instant() }),
        },
      }),
    },
    ...(position !== undefined && {
      from: {
        value: instantOf(position, sortBy),
        // Also where there is none (any more).
        id: random.oneIn(3) ? `${position.id}0` : position.id,
      },
      inclusive: random.oneIn(2),
      backwards: random.oneIn(2),
    }),
    size: random.pick([1, 2, 7, 50, 100]),
  };
}

const byCreation: SessionQuery = { sortBy: 'created', sortOrder: 'asc', filters: {}, size: 7 };

/** All pages from one end to the other. */
async function readThrough(
  store: Sessions,
  query: SessionQuery,
  between: () => Promise<void>,
): Promise<string[]> {
  const ids: string[] = [];
  let page = await store.list(query);
  for (;;) {
    const pageIds = page.items.map(({ id }) => id);
    if (query.backwards) ids.unshift(...pageIds);
    else ids.push(...pageIds);
    const edge = query.backwards ? page.items[0] : page.items.at(-1);
    if (edge === undefined || !(query.backwards ? page.before : page.after)) return ids;
    await between();
    page = await store.list({ ...query, from: { value: edge.created, id: edge.id } });
  }
}

/** The contract of every session store for listing sessions. */
export function runSessionListsSuite({ name, create }: SessionsFactory): void {
  t.test(`${name}: whatever happened, any page is as brute force has it`, async (t) => {
    for (const seed of [1, 2, 3]) {
      const walk = new Walk(await create(t), createRandom(seed));
      for (let step = 0; step < walkSteps; step += 1) {
        await walk.step();
        if (step % 3 === 0) await walk.compare();
      }
    }
  });

  for (const backwards of [false, true])
    t.test(
      `${name}: by creation, reading ${backwards ? 'backwards' : 'forwards'} is exact while sessions come and go`,
      async (t) => {
        const { store, advance } = await create(t);
        const random = createRandom(7);
        let made = 0;
        const add = async () => {
          made += 1;
          const id = `${(made * 7919) % 10_007}`;
          await store.create(newSession(id), sessionTimes);
          // Many at the same instant.
          if (random.oneIn(4)) await advance(1);
          return id;
        };
        const first: string[] = [];
        for (let index = 0; index < 150; index += 1) first.push(await add());
        const ended = new Set<string>();
        const came = new Set<string>();
        const read = await readThrough(store, { ...byCreation, backwards }, async () => {
          const id = random.pick(first);
          if ((await store.revoke(id)) !== undefined) ended.add(id);
          came.add(await add());
          const used = await store.find(random.pick(first));
          if (used !== undefined) await store.present(used.id, used.generation, sessionTimes);
        });
        t.equal(new Set(read).size, read.length, 'nothing twice');
        const stayed = first.filter((id) => !ended.has(id));
        t.strictSame(
          stayed.filter((id) => !read.includes(id)),
          [],
          'nothing missed',
        );
        t.ok(ended.size > 5 && came.size > 5);
        t.strictSame(
          read.filter((id) => !first.includes(id) && !came.has(id)),
          [],
        );
      },
    );

  t.test(`${name}: expired sessions neither appear nor count, however many`, async (t) => {
    const { store, advance } = await create(t);
    for (let index = 0; index < 250; index += 1)
      await store.create(newSession(`expired ${index}`), { ...sessionTimes, idleLifetimeMs: 10 });
    await store.create(newSession('live'), sessionTimes);
    await advance(10);
    const page = await store.list(byCreation);
    t.strictSame([page.items.map(({ id }) => id), page.total], [['live'], 1]);
    t.equal(await store.countLive(), 1);
    const ofUser = await store.list({ ...byCreation, filters: { userId: 'user-1', method: 'password' } });
    t.equal(ofUser.total, 1);
  });

  t.test(`${name}: what another connection does is listed`, async (t) => {
    const { store, openSecond } = await create(t);
    const second = await openSecond();
    await second.create(newSession('one'), sessionTimes);
    await store.create(newSession('two'), sessionTimes);
    t.equal((await store.list(byCreation)).total, 2);
    await second.revoke('one');
    // Whether the second one has already taken it off the list or not.
    const page = await store.list(byCreation);
    t.strictSame([page.items.map(({ id }) => id), page.total], [['two'], 1]);
    await store.create(newSession('three'), sessionTimes);
    await second.revoke('three');
    const first = await store.list({ ...byCreation, filters: { userId: 'user-1' }, size: 1 });
    t.strictSame([first.items.map(({ id }) => id), first.total], [['two'], 1], 'nor counted');
  });

  t.test(`${name}: every session ends at once, whosever it is`, async (t) => {
    const { store, openSecond, advance } = await create(t);
    const second = await openSecond();
    await store.create(newSession('expired'), { ...sessionTimes, idleLifetimeMs: 10 });
    await advance(10);
    for (let index = 0; index < 120; index += 1)
      await store.create(newSession(`${index}`, users[index % 3]), sessionTimes);
    const ended = await second.revokeAll();
    t.equal(ended.length, 120, 'the live ones');
    t.equal((await store.list(byCreation)).total, 0);
    t.equal(await store.find('7'), undefined);
    t.strictSame(await store.revokeAll(), []);
  });

  t.test(`${name}: one session too many ends the one used longest ago`, async (t) => {
    const { store, openSecond, advance } = await create(t);
    const second = await openSecond();
    const begin = async (id: string, max: number, userId = 'user-1') => {
      await advance(1);
      const { ended } = await store.create(newSession(id, userId), sessionTimes, max);
      return ended.map((session) => session.id);
    };
    await store.create(newSession('expired'), { ...sessionTimes, idleLifetimeMs: 1 });
    for (const id of ['a', 'b', 'c']) t.strictSame(await begin(id, 3), [], id);
    await advance(sessionTimes.reuseGraceMs);
    await store.present('a', 1, sessionTimes);
    t.strictSame(await begin('other', 1, 'user-2'), [], 'of another user');
    t.strictSame(await begin('d', 3), ['b']);
    t.equal(await store.find('b'), undefined);
    t.ok(await second.find('a'));
    t.strictSame([...(await begin('e', 1))].sort(), ['a', 'c', 'd'], 'a smaller maximum');
    const left = await store.list({ ...byCreation, filters: { userId: 'user-1' } });
    t.strictSame([left.items.map(({ id }) => id), left.total], [['e'], 1]);
    const ids = Array.from({ length: 20 }, (_, index) => `parallel ${index}`);
    const made = await Promise.all(
      ids.map((id, index) => (index % 2 ? store : second).create(newSession(id), sessionTimes, 5)),
    );
    const ended = made.flatMap((each) => each.ended.map(({ id }) => id));
    t.equal(new Set(ended).size, ended.length, 'each is ended once');
    t.equal((await store.list({ ...byCreation, filters: { userId: 'user-1' } })).total, 5);
  });
}
