import { eventually } from '../eventually.ts';
import type { TestScope } from '../gateway/gateway.ts';
import { type RedisOptions, type RedisServer, startRedis } from './redis-server.ts';
import type { Reply } from './resp.ts';

/** A cluster of three masters with a replica each. */
export interface RedisCluster {
  /** `redis+cluster://<all nodes>`. */
  readonly url: string;
  readonly nodes: readonly RedisServer[];
  /** The running node that holds the key's slot, according to a running node. */
  masterOf(key: string): Promise<RedisServer>;
  /**
   * Resolves once every slot is held by a running node and every such node sees only those, with the state ok: about
   * three seconds after a node was killed or restarted.
   */
  settled(): Promise<void>;
}

const slots = 16_384;
const nodeTimeoutMs = 1_000;

/** Starts one; resolves when it is settled. `optionsOf`: what is added to the options of a node. */
export async function startRedisCluster(
  t: TestScope,
  optionsOf: (node: number) => Pick<RedisOptions, 'config' | 'env'> = () => ({}),
): Promise<RedisCluster> {
  const config = [
    'cluster-enabled yes',
    'cluster-announce-ip 127.0.0.1',
    `cluster-node-timeout ${nodeTimeoutMs}`,
    // However long the master has been gone: a test may have waited.
    'cluster-replica-validity-factor 0',
    // A master without a replica gets none of another's: the pairs stay as they were.
    'cluster-allow-replica-migration no',
  ];
  const nodes = await Promise.all(
    Array.from({ length: 6 }, (_, node) => {
      const { config: further = [], env } = optionsOf(node);
      return startRedis(t, { config: [...config, ...further], env });
    }),
  );
  await form(nodes.slice(0, 3), nodes.slice(3));
  const running = () => nodes.filter(({ pid }) => pid !== null);
  const settled = async () => {
    await eventually('a cluster without gaps', async () => {
      const ports = running().map(({ port }) => port);
      const views = await Promise.all(running().map((node) => isSettled(node, new Set(ports))));
      return views.every(Boolean);
    });
  };
  await settled();
  return {
    url: `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    nodes,
    async masterOf(key) {
      const slot = Number(await running()[0]!.command('CLUSTER', 'KEYSLOT', key));
      const ranges = await rangesBy(running()[0]!);
      const [master] = ranges.find(({ from, to }) => from <= slot && slot <= to)!.ports;
      return nodes.find(({ port }) => port === master)!;
    },
    settled,
  };
}

async function form(masters: readonly RedisServer[], replicas: readonly RedisServer[]): Promise<void> {
  const nodes = [...masters, ...replicas];
  for (const [index, node] of nodes.entries()) {
    await node.command('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
    for (const other of nodes.slice(0, index)) await node.command('CLUSTER', 'MEET', '127.0.0.1', other.port);
  }
  for (const [index, master] of masters.entries()) {
    const start = Math.floor((slots * index) / masters.length);
    const end = Math.floor((slots * (index + 1)) / masters.length);
    const own = Array.from({ length: end - start }, (_, at) => start + at);
    await master.command('CLUSTER', 'ADDSLOTS', ...own);
    const id = await master.command('CLUSTER', 'MYID');
    await eventually('a replica that knows its master', () =>
      replicas[index]!.command('CLUSTER', 'REPLICATE', String(id)),
    );
  }
}

async function isSettled(node: RedisServer, running: ReadonlySet<number>): Promise<boolean> {
  const info = String(await node.command('CLUSTER', 'INFO'));
  const replication = String(await node.command('INFO', 'replication'));
  if (!info.includes('cluster_state:ok') || replication.includes('master_link_status:down')) return false;
  const seen = new Set((await rangesBy(node)).flatMap(({ ports }) => ports));
  return seen.size === running.size && [...seen].every((port) => running.has(port));
}

/** The ranges of slots, each with the ports of its master and then its replicas. */
async function rangesBy(node: RedisServer) {
  const ranges = (await node.command('CLUSTER', 'SLOTS')) as [number, number, ...Reply[][]][];
  return ranges.map(([from, to, ...holders]) => ({
    from,
    to,
    ports: holders.map(([, port]) => Number(port)),
  }));
}
