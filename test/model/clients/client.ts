import { setTimeout as sleep } from 'node:timers/promises';
import { createActing, type Operate } from './acting.ts';
import { deleteKey, mintKey, mintKeyForUser, useKey } from './keys.ts';
import { listKeys, listOwnSessions, listSessions, listUsers, readSet, readUser } from './lists.ts';
import { stepOf, type Weights } from './script.ts';
import {
  endAllSessions,
  endOtherSessions,
  endOwnSession,
  endSessionAsAdministrator,
  endSessionsOfUser,
  signOut,
} from './session-ends.ts';
import { refresh, useSession } from './session-uses.ts';
import { signIn } from './sign-in.ts';
import {
  changeOwnPassword,
  changeScopes,
  changeSet,
  changeSetsOfUser,
  disableOrEnable,
  replaceUser,
  resetPassword,
} from './users.ts';
import type { World } from './world.ts';

/** Every operation, and how often it comes. */
const operations = {
  useSession: [1600, useSession],
  useKey: [1400, useKey],
  refresh: [1600, refresh],
  signIn: [1500, signIn],
  mintKey: [300, mintKey],
  mintKeyForUser: [300, mintKeyForUser],
  deleteKey: [80, deleteKey],
  signOut: [80, signOut],
  endOwnSession: [60, endOwnSession],
  endSessionAsAdministrator: [60, endSessionAsAdministrator],
  endOtherSessions: [10, endOtherSessions],
  endSessionsOfUser: [8, endSessionsOfUser],
  endAllSessions: [1, endAllSessions],
  disableOrEnable: [50, disableOrEnable],
  changeScopes: [100, changeScopes],
  changeSetsOfUser: [80, changeSetsOfUser],
  changeSet: [80, changeSet],
  resetPassword: [10, resetPassword],
  changeOwnPassword: [15, changeOwnPassword],
  replaceUser: [60, replaceUser],
  listKeys: [60, listKeys],
  listUsers: [40, listUsers],
  listSessions: [60, listSessions],
  listOwnSessions: [60, listOwnSessions],
  readUser: [60, readUser],
  readSet: [40, readSet],
} as const satisfies Record<string, readonly [number, Operate]>;

type Name = keyof typeof operations;

/** How often each operation comes. */
export const weights = Object.fromEntries(
  Object.entries(operations).map(([name, [weight]]) => [name, weight]),
) as Weights<Name>;

/** A client that does one operation after the other until `isOver`. */
export async function runClient(
  world: World,
  client: number,
  seed: number,
  isOver: () => boolean,
): Promise<void> {
  for (let index = 0; !isOver(); index++) {
    const step = stepOf(seed, client, index, weights, world.gateways.length);
    const [, operate] = operations[step.name];
    await operate(createActing(world, step, client));
    await sleep(step.pauseMs);
  }
}
