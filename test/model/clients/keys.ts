import { possibleHoldings, possibleKeyScopes } from '../promises/holdings.ts';
import { Judge } from '../promises/judge.ts';
import { ModelledKey, type ModelledSession, type ModelledUser } from '../promises/records.ts';
import { type Acting, anyKey, anyUser, asSession, type Operate, ownSession } from './acting.ts';
import { paths } from './session-uses.ts';
import { asRoot, expectEvents, type Received, scopesSeen, settle, type World } from './world.ts';

/** What a new key is to hold. */
interface Asked {
  readonly scopes: readonly string[];
  readonly sets: readonly string[];
}

function asked({ world, random }: Acting): Asked {
  const set = random.pick([...world.records.sets.keys()]);
  const scopes = new Set([random.pick(world.catalogue), random.pick(world.catalogue)]);
  return { scopes: [...scopes], sets: random.oneIn(4) ? [set] : [] };
}

/** A key that is valid gives way only once in so many times. */
const keptTimes = 10;

/** Whether a place keeps its key. */
function isKept({ world, random }: Acting, former: ModelledKey | undefined): boolean {
  const gives = random.oneIn(keptTimes);
  const from = world.now();
  return former !== undefined && !gives && !world.judge.keyMayBeOver(former, { from, to: from });
}

/** Mints a key by a session, into a place whose key it deletes first: as people do who replace a key. */
export const mintKey: Operate = async (acting) => {
  const { world, client, random } = acting;
  const { keys } = world.places[client]!;
  const place = random.below(keys.length);
  const session = ownSession(acting);
  const wanted = asked(acting);
  const former = keys[place];
  if (isKept(acting, former) || session === undefined) return;
  const received = await mint(acting, wanted, session.user, session);
  if (received.status === 201) {
    keys[place] = keyOf(acting, received, wanted, session.user);
    if (former !== undefined) await deleteKeyOf(acting, former);
  }
};

/** Mints a key for a user as an administrator. */
export const mintKeyForUser: Operate = async (acting) => {
  const { world, client, random } = acting;
  const { keys } = world.places[client]!;
  const place = random.below(keys.length);
  const user = anyUser(acting);
  const wanted = asked(acting);
  const former = keys[place];
  if (isKept(acting, former)) return;
  if (former !== undefined) await deleteKeyOf(acting, former);
  const received = await mint(acting, wanted, user);
  if (received.status === 201) keys[place] = keyOf(acting, received, wanted, user);
};

/** Asks for it, and judges a refusal; without `session` the administrator asks. */
async function mint(
  acting: Acting,
  wanted: Asked,
  user: ModelledUser,
  session?: ModelledSession,
): Promise<Received> {
  const { world } = acting;
  const path = session === undefined ? `/api/admin/users/${user.id}/api-keys` : '/api/admin/api-keys/';
  const received = await acting.request({
    what: `mint of a key for ${user.name} with "${wanted.scopes.join(' ')}" and ${wanted.sets.length} sets`,
    about: session === undefined ? [user] : [session, user],
    isChange: true,
    isMaking: true,
    call: {
      method: 'POST',
      path,
      headers: session === undefined ? asRoot(world) : asSession(session),
      json: { label: `model ${acting.client}`, scopes: wanted.scopes, scope_sets: wanted.sets },
    },
    statuses: session === undefined ? [201, 403, 404, 409, 422] : [201, 401, 403],
    mayBeCut: ({ to }) => session !== undefined && world.judge.mayBeOver(session, to),
  });
  const { made, status, operation } = received;
  const problem = mintProblem(world, wanted, user, session, received);
  const sets = wanted.sets.map((id) => world.records.sets.get(id)!);
  if (problem !== null)
    world.history.violated(`${operation.what}: ${problem}`, made.to, [
      ...(session === undefined ? [] : [session]),
      user,
      ...sets,
      world.records,
    ]);
  const events = status === 201 ? [{ event: 'api_key_created', target: received.json.id }] : [];
  expectEvents(world, received, status === 201, events);
  if (session !== undefined && status === 401)
    world.expected.set(operation.id, {
      requestId: operation.id,
      from: made.from,
      to: null,
      events: [],
      isUndone: true,
    });
  return received;
}

function mintProblem(
  { judge, records }: World,
  { scopes, sets }: Asked,
  user: ModelledUser,
  session: ModelledSession | undefined,
  { status, made }: Received,
): string | null {
  const since = judge.knownSince(['records'], made.from);
  const holdings = possibleHoldings(records, user, since, made.to);
  if (holdings === undefined) return null;
  // Only a session that asked for scopes is held to those of its token.
  const carried = session === undefined || session.requested === null ? null : session.token.scopes;
  const carries = (scope: string) => carried === null || carried.includes(scope);
  const held = (all: ReadonlySet<string>) => scopes.every((scope) => all.has(scope) && carries(scope));
  const ownSets = user.sets.possible(since, made.to);
  const holdsSets = ownSets.map((own) => sets.every((set) => own.includes(set)));
  if (status === 201) {
    if (!holdings.some(held)) return 'minted, though no one holds that';
    // A session that asked for less than everything may hand on no set; the administrator may hand on any.
    if (session !== undefined && !holdsSets.includes(true)) return 'minted with a set that no one holds';
    const over = session && judge.sessionOver(session, made.from);
    return over ? `minted after the end of the session: ${over}` : null;
  }
  if (status === 403) {
    // Who may not mint at all, or holds only the scopes of a set, is refused, too.
    const mayLack = !holdings.every(held) || holdsSets.includes(false) || sets.length > 0;
    const mayMint = (all: ReadonlySet<string>) => all.has('apikeys:write') && carries('apikeys:write');
    const mayNotMint = session !== undefined && !holdings.every(mayMint);
    return mayLack || mayNotMint ? null : 'refused, though all of it is held';
  }
  if (status === 401 && session !== undefined)
    return judge.mayBeOver(session, made.to) || judge.mayBeExpired(session.token, made.to)
      ? null
      : 'refused though the session is alive';
  if (status === 404 && !user.removal.mayHaveEnded(made.to, user.made.from)) return 'the user is missing';
  if (status === 409 || status === 422)
    return user.disabled.possible(since, made.to).includes(true) ? null : `${status} without a reason`;
  return null;
}

function keyOf({ world }: Acting, received: Received, wanted: Asked, owner: ModelledUser): ModelledKey {
  const { made, json, operation } = received;
  const key = new ModelledKey({ id: json.id, key: json.key, ...wanted, owner }, made);
  world.records.keys.set(key.id, key);
  world.history.made(key, operation);
  return key;
}

/** Deletes a key as an administrator. */
async function deleteKeyOf(acting: Acting, key: ModelledKey): Promise<void> {
  const { world } = acting;
  const ending = key.endings.begin('deleted', world.now());
  const received = await acting.request({
    what: 'delete of a key',
    about: [key],
    isChange: true,
    call: { method: 'DELETE', path: `/api/admin/api-keys/${key.id}`, headers: asRoot(world) },
    statuses: [204, 404],
  });
  const { status, made } = received;
  settle(world, received, status === 204, ending);
  if (status === 404 && !key.endings.mayHaveEnded(made.to, key.made.from))
    world.history.violated('a key that was acknowledged is missing', made.to, [key]);
  expectEvents(world, received, status === 204, [{ event: 'api_key_deleted', target: key.id }]);
}

export const deleteKey: Operate = async (acting) => {
  const key = anyKey(acting);
  if (key !== undefined) await deleteKeyOf(acting, key);
};

/** Uses a key, at a path that may need a scope. */
export const useKey: Operate = async (acting) => {
  const key = anyKey(acting);
  const isGuarded = acting.random.oneIn(3);
  if (key !== undefined) await useKeyAt(acting, key, isGuarded);
};

/** The same with that key. */
export async function useKeyAt(acting: Acting, key: ModelledKey, isGuarded = false): Promise<void> {
  const { world } = acting;
  const { judge, records, history } = world;
  const scopesIn = ({ from, to }: Received['made']) =>
    possibleKeyScopes(records, key, judge.knownSince(['records'], from), to);
  const received = await acting.request({
    what: `key${isGuarded ? ' where store:read is needed' : ''}`,
    about: [key],
    call: {
      method: 'GET',
      path: isGuarded ? paths.guarded : paths.open,
      headers: { 'x-api-key': key.key },
    },
    statuses: isGuarded ? [200, 401, 403] : [200, 401],
    mayBeCut: (made) =>
      judge.keyMayBeOver(key, made) || (isGuarded && Judge.mayLack(scopesIn(made), 'store:read')),
  });
  const { status, made, json } = received;
  let problem: string | null = null;
  if (status === 200) {
    problem = judge.keyAdmitted(key, scopesSeen(json), made);
    if (isGuarded && !scopesSeen(json).split(' ').includes('store:read'))
      problem ??= `admitted without store:read, with "${scopesSeen(json)}"`;
  } else if (status === 401 && !judge.keyMayBeOver(key, made)) problem = 'refused though it is valid';
  else if (status === 403 && !Judge.mayLack(scopesIn(made), 'store:read'))
    problem = 'refused though it has store:read';
  if (problem === null) return;
  const owner = key.owner.latest();
  const sets = [...key.sets, ...owner.sets.latest()].map((id) => records.sets.get(id)!);
  history.violated(`key: ${problem}`, made.to, [key, owner, ...sets]);
}
