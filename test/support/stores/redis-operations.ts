import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiResponse } from '../clients/api-client.ts';
import { administrator, type TestScope } from '../gateway/gateway.ts';
import type { GatewayProcess } from '../gateway/gateway-process.ts';
import { isLong } from '../gateway/gateway-under-load.ts';
import { cookieOf } from '../gateway/replicas.ts';
import type { RedisRelay } from './redis-relay.ts';
import { connectionCommands, type RelayCommand, type RelayFault } from './redis-relay-faults.ts';
import type { RedisServer } from './redis-server.ts';
import { passGrace, type RelayStage, startRelayStage, tryToSignIn } from './relay-stage.ts';
import type { Reply } from './resp.ts';

const { username, password } = administrator;

/** How long the gateway behind the relay waits for a command, ms: longer where the machine may be busy. */
export const commandTimeoutMs = isLong ? 200 : 500;
/** How much later a delayed command arrives, ms. */
export const delayMs = commandTimeoutMs + 150;

/** Starts a gateway with that timeout behind a relay, and one beside it. */
export function startOperationStage(t: TestScope): Promise<RelayStage> {
  return startRelayStage(t, { stores: { sessions_command_timeout: `${commandTimeoutMs}ms` } });
}

/** The state of a client when the operation begins. */
export interface Situation {
  /** Every cookie of the one session that the contract still accepts. */
  readonly cookies: readonly string[];
  /** The cookie that is sent. */
  readonly sent: string;
  readonly bearer: string;
}

/** An operation of clients. */
export interface Operation {
  /** The status when nothing fails. */
  readonly good: 200 | 401;
  /** What is left of the session afterwards, even when the client got 503: nothing, or all of it. */
  readonly ends?: boolean;
  /** Whether it concerns no existing session. */
  readonly isSignIn?: boolean;
  /** Whether a failure is also given as an OAuth error. */
  readonly speaksOauth?: boolean;
  prepare(stage: RelayStage): Promise<Situation>;
  run(stage: RelayStage, situation: Situation): Promise<ApiResponse>;
}

async function signedIn({ api }: GatewayProcess): Promise<Situation> {
  const { cookie, accessToken } = await api.signIn(username, password);
  return { cookies: [cookie], sent: cookie, bearer: accessToken };
}

/** Signs in and rotates once: the newer cookie has not been presented. */
async function rotated(stage: RelayStage): Promise<Situation> {
  const before = await signedIn(stage.gateway);
  await passGrace(stage.redis, before.sent);
  const successor = cookieOf(await stage.gateway.api.refresh(before.sent));
  return { ...before, cookies: [before.sent, successor], sent: successor };
}

/** Two rotations later, with the first cookie in another party's hands. */
async function stolen(stage: RelayStage): Promise<Situation> {
  const { cookies, sent, bearer } = await rotated(stage);
  await stage.gateway.api.refresh(sent);
  await passGrace(stage.redis, sent);
  const third = cookieOf(await stage.gateway.api.refresh(sent));
  return { cookies: [sent, third], sent: cookies[0]!, bearer };
}

async function aboutToRotate(stage: RelayStage): Promise<Situation> {
  const situation = await signedIn(stage.gateway);
  await passGrace(stage.redis, situation.sent);
  return situation;
}

const aRefresh: Pick<Operation, 'run' | 'speaksOauth'> = {
  speaksOauth: true,
  run: ({ gateway }, { sent }) => gateway.api.refresh(sent),
};
const signedOut: Situation = { cookies: [], sent: '', bearer: '' };

/** Every operation that uses Redis, by a name for the test's output. */
export const operations: Readonly<Record<string, Operation>> = {
  'a sign-in': {
    good: 200,
    isSignIn: true,
    speaksOauth: true,
    prepare: async () => signedOut,
    run: ({ gateway }) => tryToSignIn(gateway),
  },
  'a sign-in with a wrong password': {
    good: 401,
    isSignIn: true,
    speaksOauth: true,
    prepare: async () => signedOut,
    run: ({ gateway }) => tryToSignIn(gateway, 'not the password'),
  },
  'a refresh that only confirms': { good: 200, prepare: rotated, ...aRefresh },
  'a refresh that rotates': { good: 200, prepare: aboutToRotate, ...aRefresh },
  'a refresh with the previous cookie': {
    good: 200,
    async prepare(stage) {
      const situation = await rotated(stage);
      return { ...situation, sent: situation.cookies[0]! };
    },
    ...aRefresh,
  },
  'a refresh after the scripts were flushed': {
    good: 200,
    async prepare(stage) {
      const situation = await aboutToRotate(stage);
      await stage.redis.command('SCRIPT', 'FLUSH');
      return situation;
    },
    ...aRefresh,
  },
  'the replay of an old cookie': { good: 401, ends: true, prepare: stolen, ...aRefresh },
  'a sign-out': {
    good: 200,
    ends: true,
    prepare: rotated,
    run: ({ gateway }, { sent, bearer }) => gateway.api.send({ path: '/api/logout', cookie: sent, bearer }),
  },
  'a request of a session that is not cached': {
    good: 200,
    prepare: ({ elsewhere }) => signedIn(elsewhere),
    run: ({ gateway }, { bearer }) => gateway.api.send({ path: '/api/store/x', bearer }),
  },
};

/** Whether the operation itself sends the command; others maintain connections and caches, at their own pace. */
export function isOfOperation({ name }: RelayCommand): boolean {
  return !connectionCommands.has(name) && name !== 'time' && name !== 'exists';
}

/** The names of the commands that `run` sends, in order. */
export async function commandsOf(relay: RedisRelay, run: () => Promise<unknown>): Promise<string[]> {
  const names: string[] = [];
  const armed = relay.arm({
    fault: 'cut-before',
    at: Number.POSITIVE_INFINITY,
    commands(command) {
      if (isOfOperation(command)) names.push(command.name);
      return false;
    },
  });
  await run();
  // The response does not wait for clean-up.
  await sleep(30);
  armed.disarm();
  return names;
}

/** Every fault of a command, by its outcome. */
export const faults: Readonly<Record<string, RelayFault>> = {
  'arrives late': { delayMs },
  'is lost with its connection': 'cut-before',
  'is executed and its reply lost with the connection': 'cut-after',
  'is swallowed': 'swallow-command',
  'is executed and its reply swallowed': 'swallow-reply',
  'is answered READONLY': { error: "READONLY You can't write against a read only replica." },
  'is answered OOM': { error: "OOM command not allowed when used memory > 'maxmemory'." },
  'is answered LOADING': { error: 'LOADING Redis is loading the dataset in memory' },
  'is answered NOAUTH': { error: 'NOAUTH Authentication required.' },
  'is answered MOVED': { error: 'MOVED 866 127.0.0.1:6379' },
  'is answered NOSCRIPT': { error: 'NOSCRIPT No matching script. Please use EVAL.' },
  'is answered in another protocol': { bytes: 'HTTP/1.1 400 Bad Request\r\n\r\n' },
  'is answered a number': { bytes: ':42\r\n' },
  'is answered a word': { bytes: '+PONG\r\n' },
  'is answered nothing': { bytes: '$-1\r\n' },
};

/** Everything Postern keeps in Redis, by key; throws when a key doesn't expire. */
export async function stored(redis: RedisServer): Promise<Readonly<Record<string, Reply>>> {
  const reading: Readonly<Record<string, readonly string[]>> = {
    hash: ['HGETALL'],
    zset: ['ZRANGE', '0', '-1', 'WITHSCORES'],
    string: ['GET'],
  };
  const all: Record<string, Reply> = {};
  for (const key of (await redis.command('KEYS', '*')) as string[]) {
    if (Number(await redis.command('PTTL', key)) === -1) throw new Error(`${key} does not expire`);
    const [command, ...args] = reading[String(await redis.command('TYPE', key))]!;
    all[key] = await redis.command(command!, key, ...args);
  }
  return all;
}
