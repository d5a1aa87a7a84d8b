import type { PendingEnding } from '../promises/endings.ts';
import type { ModelledSession } from '../promises/records.ts';
import { type Acting, anySession, anyUser, asSession, type Operate, ownSession } from './acting.ts';
import { asRoot, expectEvents, type Received, settle } from './world.ts';

/** Begins the end of one session, which a session store that fails over may undo. */
function beginEnd({ world }: Acting, session: ModelledSession, why: string): PendingEnding {
  const from = world.now();
  return session.endings.begin(why, from, undefined, () => world.isKept(from, from + 1_000));
}

/** Judges that a session was said to be gone, or refused as a caller. */
function judgeGone({ world }: Acting, session: ModelledSession, { made, operation }: Received): void {
  const { judge, history } = world;
  if (judge.mayBeOver(session, made.to) || judge.mayBeExpired(session.token, made.to)) return;
  const about = [session, session.user, world.records];
  history.violated(`${operation.what}: a session that is alive is gone or refused`, made.to, about);
}

/** Signs out, by the access token or by the cookie. */
export async function signOutOf(acting: Acting, session: ModelledSession): Promise<void> {
  const { world, random } = acting;
  const isByCookie = random.oneIn(2);
  const cookie = session.rotation.cookies.get(random.pick(session.rotation.held))!;
  const ending = beginEnd(acting, session, 'signed out');
  const received = await acting.request({
    what: `sign-out by ${isByCookie ? 'cookie' : 'token'}`,
    about: [session],
    isChange: true,
    call: {
      method: 'GET',
      path: '/api/logout',
      headers: isByCookie ? { cookie } : asSession(session),
    },
    statuses: [200, 401],
    mayBeCut: ({ to }) => world.judge.mayBeOver(session, to),
  });
  settle(world, received, received.status === 200, ending);
  if (received.status === 401) judgeGone(acting, session, received);
}

export const signOut: Operate = async (acting) => {
  const session = ownSession(acting);
  if (session !== undefined) await signOutOf(acting, session);
};

/** Ends a session of the same user by another one. */
export const endOwnSession: Operate = async (acting) => {
  const caller = ownSession(acting);
  const other = anySession(acting);
  if (caller === undefined || other === undefined || caller.user !== other.user) return;
  await endSession(acting, other, `/api/self/sessions/${other.id}`, asSession(caller), caller);
};

export const endSessionAsAdministrator: Operate = async (acting) => {
  const session = anySession(acting);
  if (session === undefined) return;
  await endSession(acting, session, `/api/admin/sessions/${session.id}`, asRoot(acting.world));
};

async function endSession(
  acting: Acting,
  session: ModelledSession,
  path: string,
  headers: Record<string, string>,
  caller?: ModelledSession,
): Promise<void> {
  const { world } = acting;
  const ending = beginEnd(acting, session, 'ended by id');
  const received = await acting.request({
    what: caller === undefined ? 'administrator ends session' : 'user ends session',
    about: caller === undefined ? [session] : [session, caller],
    isChange: true,
    call: { method: 'DELETE', path, headers },
    statuses: caller === undefined ? [204, 404] : [204, 404, 401],
    mayBeCut: ({ to }) => caller !== undefined && world.judge.mayBeOver(caller, to),
  });
  settle(world, received, received.status === 204, ending);
  if (received.status === 404) judgeGone(acting, session, received);
  if (received.status === 401) judgeGone(acting, caller!, received);
}

/** Ends all sessions of a user but the caller's. */
export const endOtherSessions: Operate = async (acting) => {
  const { world } = acting;
  const caller = ownSession(acting);
  if (caller === undefined) return;
  const { user } = caller;
  const from = world.now();
  const isKept = () => world.isKept(from, from + 1_000);
  const ending = user.sessionEndings.begin('another session ended all others', from, caller, isKept);
  const received = await acting.request({
    what: `all other sessions of ${user.name} are ended`,
    about: [caller, user],
    isChange: true,
    call: { method: 'DELETE', path: '/api/self/sessions/?others=true', headers: asSession(caller) },
    statuses: [204, 401],
    mayBeCut: ({ to }) => world.judge.mayBeOver(caller, to),
  });
  settle(world, received, received.status === 204, ending);
  if (received.status === 401) judgeGone(acting, caller, received);
};

/** Ends all sessions of a user. */
export const endSessionsOfUser: Operate = async (acting) => {
  const { world } = acting;
  const user = anyUser(acting);
  const ending = user.sessionEndings.begin("the user's sessions were ended", world.now());
  const received = await acting.request({
    what: `all sessions of ${user.name} are ended`,
    about: [user],
    isChange: true,
    call: { method: 'DELETE', path: `/api/admin/sessions/?user=${user.id}`, headers: asRoot(world) },
    statuses: [204],
  });
  settle(world, received, received.status === 204, ending);
  // Whether a user has any sessions, the records can't say.
  const events = [{ event: 'sessions_ended', target: user.id }];
  expectEvents(world, received, received.status === 204, events, true);
};

/** Ends everyone's sessions. */
export const endAllSessions: Operate = async (acting) => {
  const { world } = acting;
  const ending = world.records.everySessionEnding.begin("everyone's sessions were ended", world.now());
  const received = await acting.request({
    what: "everyone's sessions are ended",
    about: [world.records],
    isChange: true,
    call: { method: 'DELETE', path: '/api/admin/sessions/?all=true', headers: asRoot(world) },
    statuses: [204],
  });
  settle(world, received, received.status === 204, ending);
  expectEvents(world, received, received.status === 204, [{ event: 'all_sessions_ended', target: null }]);
};
