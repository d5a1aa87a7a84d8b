import type { Random } from '../../support/corpora/random.ts';
import type { ModelledKey, ModelledSession, ModelledUser } from '../promises/records.ts';
import { type Received, type Sent, send, type World } from './world.ts';

/** A client in one of its steps. */
export interface Acting {
  readonly world: World;
  readonly client: number;
  readonly gateway: number;
  readonly random: Random;
  /** Sends a request of this step, at its gateway unless it says otherwise. */
  request(sent: Omit<Sent, 'id' | 'gateway'> & { readonly gateway?: number }): Promise<Received>;
}

/** One operation of a client, with all its judgements; nothing where its place is still empty. */
export type Operate = (acting: Acting) => Promise<void>;

/** Numbers the requests of a step. */
export function createActing(
  world: World,
  step: { readonly id: string; readonly gateway: number; readonly random: Random },
  client: number,
): Acting {
  let requests = 0;
  const { id, gateway, random } = step;
  return {
    world,
    client,
    gateway,
    random,
    request: (sent) => send(world, { gateway, ...sent, id: requests++ === 0 ? id : `${id}.${requests}` }),
  };
}

/** A place of any client, and its own ones twice as often. */
function anyClient({ client, random, world }: Acting): number {
  const any = random.below(world.places.length * 2);
  return any < world.places.length ? any : client;
}

export function anySession(acting: Acting): ModelledSession | undefined {
  const { world, random } = acting;
  return random.pick(world.places[anyClient(acting)]!.sessions);
}

export function ownSession({ world, client, random }: Acting): ModelledSession | undefined {
  return random.pick(world.places[client]!.sessions);
}

export function anyKey(acting: Acting): ModelledKey | undefined {
  const { world, random } = acting;
  return random.pick(world.places[anyClient(acting)]!.keys);
}

/** A user of all, or more rarely one of this client's own. */
export function anyUser({ world, client, random }: Acting): ModelledUser {
  const shared = random.pick(world.sharedUsers);
  const own = random.pick(world.places[client]!.users);
  return random.oneIn(4) ? (own ?? shared) : shared;
}

export function asSession({ token }: ModelledSession): Record<string, string> {
  return { authorization: `Bearer ${token.text}` };
}
