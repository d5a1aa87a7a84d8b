import { type ListingBounds, listingProblems } from '../promises/listing.ts';
import type { Instant } from '../promises/register.ts';
import { type Acting, asSession, type Operate, ownSession } from './acting.ts';
import { asRoot, type World } from './world.ts';

/** A listing that was read to its end; null: it was cut short. */
interface Listing {
  readonly ids: readonly string[];
  readonly total: number;
  readonly from: Instant;
  readonly to: Instant;
}

const tooManyPages = 500;

/** Reads all pages, each at any gateway. */
async function readAll(
  acting: Acting,
  path: string,
  headers: Record<string, string>,
  mayBeRefused = () => false,
): Promise<Listing | null> {
  const { world, random } = acting;
  const size = random.pick([7, 50, 100]);
  const from = world.now();
  const ids: string[] = [];
  let cursor = '';
  for (let page = 0; page < tooManyPages; page++) {
    const query = `sort_by=created&sort_order=asc&size=${size}${cursor}`;
    const received = await acting.request({
      what: `list of ${path}`,
      gateway: random.below(world.gateways.length),
      about: [],
      call: { method: 'GET', path: `${path}?${query}`, headers },
      statuses: [200, 401],
      mayBeCut: mayBeRefused,
    });
    if (received.status === 401 && !mayBeRefused())
      world.history.violated(`the list of ${path} is refused`, received.made.to, []);
    if (received.status !== 200) return null;
    const { items, next_page: next, total } = received.json;
    for (const { id } of items) ids.push(id);
    if (next === null) return { ids, total, from, to: world.now() };
    cursor = `&cursor=${encodeURIComponent(next)}`;
  }
  world.history.violated(`the list of ${path} has no end`, world.now(), []);
  return null;
}

function judgeListing(world: World, what: string, listing: Listing | null, bounds: ListingBounds): void {
  if (listing === null) return;
  for (const problem of listingProblems(listing.ids, bounds)) {
    const id = /[0-9a-f-]{36}/.exec(problem)?.[0] ?? '';
    const { sessions, keys, users } = world.records;
    const record = sessions.get(id) ?? keys.get(id) ?? users.get(id);
    const about = record === undefined ? [] : [record, ...('user' in record ? [record.user] : [])];
    const { from, to } = listing;
    const when = `${(from / 1000).toFixed(3)} - ${(to / 1000).toFixed(3)} s`;
    world.history.violated(`${what} listed at ${when}: ${problem}`, to, [...about, world.records]);
  }
}

export const listKeys: Operate = async (acting) => {
  const { world } = acting;
  const listing = await readAll(acting, '/api/admin/api-keys/', asRoot(world));
  judgeListing(world, 'keys', listing, keyBounds(world, listing?.from ?? 0, listing?.to ?? 0));
};

/** Keys that were there all the time, suspended ones too, and those that were gone before. */
function keyBounds({ records }: World, from: Instant, to: Instant): ListingBounds {
  const must = new Map<string, string>();
  const mustNot = new Map<string, string>();
  for (const key of records.keys.values()) {
    if (key.made.to <= from && !key.endings.mayHaveEnded(to, key.made.from)) must.set(key.id, 'a key');
    const ending = key.endings.first(key.made.to);
    if (ending !== undefined && ending.until() <= from) mustNot.set(key.id, ending.why);
  }
  return { must, mustNot };
}

export const listUsers: Operate = async (acting) => {
  const { world } = acting;
  const listing = await readAll(acting, '/api/admin/users/', asRoot(world));
  if (listing === null) return;
  const must = new Map<string, string>();
  const mustNot = new Map<string, string>();
  for (const user of world.records.users.values()) {
    if (user.made.to <= listing.from && !user.removal.mayHaveEnded(listing.to, user.made.from))
      must.set(user.id, user.name);
    const removal = user.removal.first(0);
    if (removal !== undefined && removal.until() <= listing.from) mustNot.set(user.id, removal.why);
  }
  judgeListing(world, 'users', listing, { must, mustNot });
};

/** Sessions that were alive all the time, and those of which every gateway must know that they are over. */
function sessionBounds(
  { records, judge }: World,
  { from, to }: Listing,
  isListed: (id: string) => boolean,
): ListingBounds {
  const must = new Map<string, string>();
  const mustNot = new Map<string, string>();
  for (const session of records.sessions.values()) {
    if (session.made.to <= from && isListed(session.id) && !judge.mayBeOver(session, to))
      must.set(session.id, `a session of ${session.user.name}`);
    const over = judge.sessionOver(session, from);
    if (over !== null) mustNot.set(session.id, over);
  }
  return { must, mustNot };
}

export const listSessions: Operate = async (acting) => {
  const { world } = acting;
  const listing = await readAll(acting, '/api/admin/sessions/', asRoot(world));
  if (listing !== null)
    judgeListing(
      world,
      'sessions',
      listing,
      sessionBounds(world, listing, () => true),
    );
};

export const listOwnSessions: Operate = async (acting) => {
  const { world } = acting;
  const caller = ownSession(acting);
  if (caller === undefined) return;
  const mayBeRefused = () =>
    world.judge.mayBeOver(caller, world.now()) || world.judge.mayBeExpired(caller.token, world.now());
  const listing = await readAll(acting, '/api/self/sessions/', asSession(caller), mayBeRefused);
  if (listing === null) return;
  const isOwn = (id: string) => world.records.sessions.get(id)!.user === caller.user;
  judgeListing(world, 'own sessions', listing, sessionBounds(world, listing, isOwn));
};

/** Reads a user, and judges every field. */
export const readUser: Operate = async (acting) => {
  const { world, random } = acting;
  const user = random.pick(world.sharedUsers);
  const received = await acting.request({
    what: `read of ${user.name}`,
    about: [user],
    call: { method: 'GET', path: `/api/admin/users/${user.id}`, headers: asRoot(world) },
    statuses: [200],
  });
  const { status, made, json } = received;
  if (status !== 200) return;
  const since = world.judge.knownSince(['records'], made.from);
  const fields = {
    scopes: [user.scopes.possible(since, made.to), json.scopes],
    scope_sets: [user.sets.possible(since, made.to), json.scope_sets],
    disabled: [user.disabled.possible(since, made.to), json.disabled],
  } as const;
  for (const [field, [possible, found]] of Object.entries(fields)) {
    const text = canonical(found);
    if (possible.some((value) => canonical(value) === text)) continue;
    world.history.violated(`${user.name} is read with ${field} ${text}`, made.to, [user]);
  }
};

/** Reads a scope set, and judges what it gives. */
export const readSet: Operate = async (acting) => {
  const { world, random } = acting;
  const set = random.pick([...world.records.sets.values()]);
  const received = await acting.request({
    what: `read of ${set.name}`,
    about: [set],
    call: { method: 'GET', path: `/api/admin/scope-sets/${set.id}`, headers: asRoot(world) },
    statuses: [200],
  });
  const { status, made, json } = received;
  if (status !== 200) return;
  const possible = set.scopes.possible(world.judge.knownSince(['records'], made.from), made.to);
  const text = canonical(json.scopes);
  if (!possible.some((value) => canonical(value) === text))
    world.history.violated(`${set.name} is read with ${text}`, made.to, [set]);
};

/** Sets are read by id or, hydrated, as objects. */
function canonical(value: unknown): string {
  if (!Array.isArray(value)) return JSON.stringify(value);
  return JSON.stringify(value.map((one) => (typeof one === 'object' ? one.id : one)).toSorted());
}

/** At rest, `total` is the number of items. */
export async function judgeTotals(acting: Acting): Promise<void> {
  const { world } = acting;
  for (const path of ['/api/admin/api-keys/', '/api/admin/users/', '/api/admin/sessions/']) {
    const listing = await readAll(acting, path, asRoot(world));
    if (listing !== null && listing.total !== listing.ids.length)
      world.history.violated(
        `${path} has the total ${listing.total} and ${listing.ids.length} items`,
        world.now(),
        [],
      );
  }
}
