import { written } from '../promises/holdings.ts';
import { ModelledSession, type ModelledUser } from '../promises/records.ts';
import { Rotation } from '../promises/rotation.ts';
import { type Acting, anyUser, type Operate } from './acting.ts';
import { someOf } from './script.ts';
import { signOutOf } from './session-ends.ts';
import { expectEvents, type Received, type World } from './world.ts';

/** Sessions live long enough to rotate a few times: one that is alive gives way only once in so many times. */
const keptTimes = 20;

/** Signs in, rarely with an earlier password, into a place whose session is over, or is signed out first. */
export const signIn: Operate = async (acting) => {
  const { world, client, random } = acting;
  const places = world.places[client]!;
  const place = random.below(places.sessions.length);
  const user = anyUser(acting);
  const requested = random.oneIn(3) ? someOf(random, world.catalogue, 1) : null;
  const isEarlier = random.oneIn(8);
  const gives = random.oneIn(keptTimes);
  const former = places.sessions[place];
  const isAlive = former !== undefined && !world.judge.mayBeOver(former, world.now());
  if (isAlive && !gives) return;
  if (isAlive) await signOutOf(acting, former);
  const password = isEarlier ? (user.earlierPasswords.at(-1) ?? 'never a password') : user.password.latest();
  const scope: Record<string, string> = requested === null ? {} : { scope: requested.join(' ') };
  const received = await acting.request({
    what: `sign-in of ${user.name}${requested ? ` for "${requested.join(' ')}"` : ''}${isEarlier ? ' by an earlier password' : ''}`,
    about: [user],
    isChange: true,
    isMaking: true,
    call: {
      method: 'POST',
      path: '/api/login/access-token',
      form: { username: user.name, password, ...scope },
    },
    statuses: [200, 401],
  });
  const problem = signInProblem(world, user, password, received);
  const { made, status } = received;
  if (problem !== null) world.history.violated(`sign-in of ${user.name}: ${problem}`, made.to, [user]);
  if (status === 200) places.sessions[place] = sessionOf(acting, user, requested, received);
  const id = places.sessions[place]?.id ?? null;
  // Whose id, nobody knows if there was no response.
  expectEvents(
    world,
    received,
    status === 200,
    status === 200 ? [{ event: 'login_succeeded', target: id }] : [],
  );
};

function signInProblem(
  { judge }: World,
  user: ModelledUser,
  password: string,
  { status, made, json }: Received,
): string | null {
  const { from, to } = made;
  const since = judge.knownSince(['records'], from);
  const passwords = user.password.possible(since, to);
  const disabled = user.disabled.possible(since, to);
  const removed = user.removal.first(0);
  if (status === 200) {
    if (!passwords.includes(password)) return 'a password that was replaced was accepted';
    if (!disabled.includes(false)) return 'the user is disabled';
    if (removed !== undefined && removed.until() <= since) return 'the user was removed';
    if (typeof json?.access_token !== 'string') return 'there is no access token';
  }
  const mayFail =
    disabled.includes(true) ||
    passwords.some((other) => other !== password) ||
    user.removal.mayHaveEnded(to, user.made.from);
  return status === 401 && !mayFail ? 'the right password was refused' : null;
}

function sessionOf(
  { world }: Acting,
  user: ModelledUser,
  requested: readonly string[] | null,
  { made, json, setCookies, operation }: Received,
): ModelledSession {
  const token = tokenOf(json, made);
  const signedIn = { ...made, cookie: cookieOf(setCookies) };
  const session = new ModelledSession(
    sessionIdOf(json.access_token),
    user,
    requested,
    token,
    new Rotation(world.graceMs, signedIn, { clockError: world.clockError, isKept: world.isKept }),
  );
  world.records.sessions.set(session.id, session);
  world.history.made(session, operation);
  const problem = world.judge.tokenIssued(user, requested, written(token.scopes), made);
  if (problem !== null) world.history.violated(`sign-in: ${problem}`, made.to, [session, user]);
  return session;
}

/** The access token of a login response. */
export function tokenOf(json: any, issued: Received['made']) {
  const scopes = String(json.scope)
    .split(' ')
    .filter((scope) => scope !== '');
  return { text: json.access_token, scopes, issued };
}

/** The refresh cookie of a response as `name=value`; empty if there is none. */
export function cookieOf(setCookies: readonly string[]): string {
  return setCookies[0]?.split(';', 1)[0] ?? '';
}

/** The generation in a refresh cookie. */
export function generationOf(cookie: string): number {
  return Number(cookie.split('=')[1]?.split('.')[1]);
}

function sessionIdOf(accessToken: string): string {
  return JSON.parse(Buffer.from(accessToken.split('.')[1]!, 'base64url').toString()).sid;
}
