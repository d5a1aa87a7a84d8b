import type { Acting } from './acting.ts';
import { useKeyAt } from './keys.ts';
import { judgeTotals, listKeys, listSessions, listUsers } from './lists.ts';
import { refreshWith, useSessionAt } from './session-uses.ts';
import type { World } from './world.ts';

/** So many of what ended are tried once more at every gateway, the last ones. */
const probed = 60;

/** With all faults over: everything that must be alive is, at every gateway, and nothing that has ended. */
export async function judgeAtRest(world: World, actingAs: (id: string) => Acting): Promise<void> {
  const { records, judge, gateways, now } = world;
  const sessions = [...records.sessions.values()];
  const alive = sessions.filter((session) => !judge.mayBeOver(session, now()));
  const ended = sessions.filter((session) => judge.mayBeOver(session, now())).slice(-probed);
  const keys = [...records.keys.values()].slice(-3 * probed);
  for (const { index: gateway } of gateways) {
    const acting = (id: string): Acting => {
      const own = actingAs(`rest-${gateway}-${id}`);
      return { ...own, gateway, request: (sent) => own.request({ gateway, ...sent }) };
    };
    for (const session of [...alive, ...ended]) await useSessionAt(acting(session.id), session);
    for (const key of keys) await useKeyAt(acting(key.id), key);
    await listKeys(acting('keys'));
    await listSessions(acting('sessions'));
    await listUsers(acting('users'));
  }
  for (const session of alive)
    await refreshWith(actingAs(`rest-refresh-${session.id}`), session, session.rotation.held.at(-1)!);
  await judgeTotals(actingAs('rest-totals'));
}
