import { eventually } from '../eventually.ts';
import type { TestScope } from '../gateway/gateway.ts';
import { type RedisOptions, type RedisServer, startRedis } from './redis-server.ts';
import type { Reply } from './resp.ts';

/** A master and a replica, watched by three sentinels of which two have to agree. */
export interface RedisSentinels {
  /** `redis+sentinel://<sentinels>/mymaster`. */
  readonly url: string;
  /** The master and the replica, in the roles they started with. */
  readonly nodes: readonly RedisServer[];
  readonly sentinels: readonly RedisServer[];
  /** The server that the sentinels call master now. */
  master(): Promise<RedisServer>;
  /**
   * Kills the master, or pauses it, and gives the other once every sentinel calls it the master and it is one; about
   * two seconds. For the next failover, `restart` (or `resume`) the old master and wait until it is `settled`.
   */
  failover(how?: 'kill' | 'pause'): Promise<RedisServer>;
  /** Resolves once the sentinels know each other, agree on a master, and the other server is its replica, in sync. */
  settled(): Promise<void>;
}

const masterName = 'mymaster';
const downAfterMs = 800;
const failoverTimeoutMs = 2_000;

/**
 * How often they check and talk: SENTINEL DEBUG, of Redis 7; earlier ones take some seconds longer for everything.
 * Pings are more frequent than `downAfterMs`, or a new master would look down at once; but a replica's state counts as
 * outdated after five of these periods.
 */
const quick = ['info-period', 100, 'ask-period', 100, 'publish-period', 100, 'ping-period', 300];
/** To a sentinel, a busy machine looks like a clock that jumps: it pauses for 30 s unless configured otherwise. */
const patient = ['tilt-period', 1_000];

/** Starts all five; resolves when they are settled. `envOf`: what is added to the environment of the master and the replica. */
export async function startRedisSentinels(
  t: TestScope,
  envOf: (node: number) => RedisOptions['env'] = () => undefined,
): Promise<RedisSentinels> {
  const first = await startRedis(t, { env: envOf(0) });
  const second = await startRedis(t, { config: [`replicaof 127.0.0.1 ${first.port}`], env: envOf(1) });
  const config = [
    `sentinel monitor ${masterName} 127.0.0.1 ${first.port} 2`,
    `sentinel down-after-milliseconds ${masterName} ${downAfterMs}`,
    `sentinel failover-timeout ${masterName} ${failoverTimeoutMs}`,
  ];
  const start = () => startRedis(t, { config, isSentinel: true });
  const sentinels = await Promise.all([start(), start(), start()]);
  for (const sentinel of sentinels)
    await sentinel.command('SENTINEL', 'DEBUG', ...quick, ...patient).catch(() => {});

  const nodes = [first, second];
  const agreedMaster = async () => {
    const running = sentinels.filter(({ pid }) => pid !== null);
    const masters = await Promise.all(running.map((sentinel) => masterBy(sentinel, nodes)));
    return masters.every((master) => master === masters[0]) ? masters[0] : undefined;
  };
  const group: RedisSentinels = {
    url: `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${masterName}`,
    nodes,
    sentinels,
    master: () => eventually('a master that the sentinels agree on', agreedMaster),
    async failover(how = 'kill') {
      const old = await group.master();
      if (how === 'kill') await old.kill();
      else old.pause();
      return eventually('another master', async () => {
        const master = await agreedMaster();
        return master !== undefined && master !== old && (await roleOf(master)) === 'master' && master;
      });
    },
    async settled() {
      await eventually('sentinels that agree, and a replica in sync', async () => {
        const master = await agreedMaster();
        if (master === undefined || (await roleOf(master)) !== 'master') return false;
        const replicas = nodes.filter((node) => node !== master && node.pid !== null);
        const views = sentinels.filter(({ pid }) => pid !== null).map((sentinel) => viewOf(sentinel));
        return (await Promise.all(views)).every(
          ({ others, inSync }) =>
            others === sentinels.length - 1 && replicas.every(({ port }) => inSync.has(port)),
        );
      });
    },
  };
  await group.settled();
  return group;
}

async function masterBy(sentinel: RedisServer, nodes: readonly RedisServer[]) {
  const address = await sentinel.command('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', masterName);
  return nodes.find(({ port }) => Array.isArray(address) && Number(address[1]) === port);
}

async function roleOf(node: RedisServer): Promise<Reply> {
  const role = await node.command('ROLE');
  return Array.isArray(role) ? role[0] : null;
}

/** How many other sentinels that one knows, and the ports of the replicas it could promote. */
async function viewOf(sentinel: RedisServer) {
  const master = fieldsOf(await sentinel.command('SENTINEL', 'MASTER', masterName));
  const replicas = (await sentinel.command('SENTINEL', 'REPLICAS', masterName)) as Reply[];
  const inSync = replicas
    .map(fieldsOf)
    .filter((replica) => replica.get('flags') === 'slave' && replica.get('master-link-status') === 'ok');
  return {
    others: Number(master.get('num-other-sentinels')),
    inSync: new Set(inSync.map((replica) => Number(replica.get('port')))),
  };
}

/** Alternating names and values. */
function fieldsOf(reply: Reply): Map<string, Reply> {
  const list = reply as readonly Reply[];
  const fields = new Map<string, Reply>();
  for (let at = 0; at < list.length; at += 2) fields.set(String(list[at]), list[at + 1]!);
  return fields;
}
