import { possibleTokenScopes, written } from '../promises/holdings.ts';
import { Judge } from '../promises/judge.ts';
import type { ModelledSession } from '../promises/records.ts';
import type { Presentation } from '../promises/rotation.ts';
import { type Acting, anySession, asSession, type Operate, ownSession } from './acting.ts';
import { cookieOf, generationOf, tokenOf } from './sign-in.ts';
import { type Received, scopesSeen, settle } from './world.ts';

/** A path that anyone who is signed in may use, and one that needs `store:read`. */
export const paths = { open: '/api/anything', guarded: '/api/store/x' } as const;

/** Uses a session's access token, at a path that may need a scope. */
export const useSession: Operate = async (acting) => {
  const session = anySession(acting);
  const isGuarded = acting.random.oneIn(3);
  if (session !== undefined) await useSessionAt(acting, session, isGuarded);
};

/** The same with that session. */
export async function useSessionAt(
  acting: Acting,
  session: ModelledSession,
  isGuarded = false,
): Promise<void> {
  const { world } = acting;
  const { judge, history, records } = world;
  const { token, user } = session;
  const scopesIn = ({ from, to }: Received['made']) =>
    possibleTokenScopes(records, session, token, judge.knownSince(['records'], from), to);
  const received = await acting.request({
    what: `token${isGuarded ? ' where store:read is needed' : ''}`,
    about: [session],
    call: { method: 'GET', path: isGuarded ? paths.guarded : paths.open, headers: asSession(session) },
    statuses: isGuarded ? [200, 401, 403] : [200, 401],
    mayBeCut: (made) =>
      judge.mayBeOver(session, made.to) || (isGuarded && Judge.mayLack(scopesIn(made), 'store:read')),
  });
  const { status, made, json } = received;
  let problem: string | null = null;
  if (status === 200) {
    const scopes = scopesSeen(json);
    problem = judge.tokenAdmitted(session, token, scopes, made);
    if (isGuarded && !scopes.split(' ').includes('store:read'))
      problem ??= `admitted without store:read, with "${scopes}"`;
  } else if (status === 401) {
    if (!judge.mayBeOver(session, made.to) && !judge.mayBeExpired(token, made.to))
      problem = 'refused though it is alive';
  } else if (status === 403 && !Judge.mayLack(scopesIn(made), 'store:read'))
    problem = 'refused though it has store:read';
  const sets = user.sets.latest().map((id) => records.sets.get(id)!);
  if (problem !== null)
    history.violated(`session: ${problem}`, made.to, [session, user, ...sets, world.records]);
}

/** How a client picks the cookie of a tab: mostly the newest. */
function cookieChoice({ random }: Acting, held: readonly number[]): number {
  const choice = random.below(20);
  if (choice < 17) return held.at(-1)!;
  return choice < 19 ? (held.at(-2) ?? held.at(-1)!) : held[random.below(held.length)]!;
}

/** Refreshes a session in one to three tabs at once, with the current cookie, the previous one or an older one. */
export const refresh: Operate = async (acting) => {
  const session = ownSession(acting);
  const tabs = acting.random.pick([1, 1, 1, 2, 3]);
  if (session === undefined) return;
  const presented = Array.from({ length: tabs }, () => cookieChoice(acting, session.rotation.held));
  await Promise.all(presented.map((generation) => refreshWith(acting, session, generation)));
};

/** Refreshes a session with the cookie of that generation, at any gateway. */
export async function refreshWith(
  acting: Acting,
  session: ModelledSession,
  generation: number,
  gateway = acting.random.below(acting.world.gateways.length),
): Promise<void> {
  const { world } = acting;
  const { rotation } = session;
  const presentation = rotation.begin(generation, world.now());
  // As long as it is open, it may turn out to be reuse and end the session.
  const ending = session.endings.begin('its cookie was reused', presentation.from, undefined, () =>
    world.isKept(presentation.from, presentation.from + 1_000),
  );
  const received = await acting.request({
    what: `refresh with cookie ${generation}`,
    gateway,
    about: [session],
    isChange: true,
    call: {
      method: 'POST',
      path: '/api/login/refresh-token',
      headers: { cookie: rotation.cookies.get(generation)! },
    },
    statuses: [200, 401],
    mayBeCut: ({ to }) => world.judge.mayBeOver(session, to),
  });
  const { made, isKnown } = received;
  let problem: string | null = null;
  if (received.status === 200) {
    ending.refuse();
    problem = accepted(acting, session, presentation, received);
  } else if (received.status === 401) {
    presentation.to = made.to;
    presentation.wasRefused = true;
    const isReuse = rotation.isReuse(generation, presentation.from);
    const isInnocent = rotation.isInnocent(generation, made.to);
    if (isInnocent) ending.refuse();
    if (isInnocent && !world.judge.mayBeOver(session, made.to)) problem = 'refused though it is alive';
    if (isReuse) ending.acknowledge(made.to);
    else if (!isInnocent) ending.lose(() => made.to);
  } else {
    presentation.to = made.to;
    if (!isKnown && rotation.isInnocent(generation, made.to)) ending.refuse();
    else settle(world, received, false, ending);
  }
  if (problem !== null)
    world.history.violated(`refresh: ${problem}`, made.to, [session, session.user, world.records]);
}

/** Takes what a refresh gave, and says what is wrong with it. */
function accepted(
  { world }: Acting,
  session: ModelledSession,
  presentation: Presentation,
  { made, json, setCookies, operation }: Received,
): string | null {
  const { judge } = world;
  const cookie = cookieOf(setCookies);
  const given = generationOf(cookie) || presentation.presented;
  operation.result += ` cookie ${given}`;
  const held = cookie === '' ? session.rotation.cookies.get(given)! : cookie;
  const problem = session.rotation.accepted(presentation, given, held, made.to);
  const over = judge.sessionOver(session, made.from);
  const token = tokenOf(json, made);
  if (token.issued.to > session.token.issued.to) session.token = token;
  if (over !== null) return `accepted after its end: ${over}`;
  return problem ?? judge.tokenIssued(session.user, session.requested, written(token.scopes), made);
}
