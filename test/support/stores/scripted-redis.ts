import { scripts } from '../../../src/stores/redis/scripts.ts';
import type { TestScope } from '../gateway/gateway.ts';
import { startRelayListener } from '../servers/relay-listener.ts';
import { createFrameReader } from './resp.ts';

/** A server that responds like a Redis, a Sentinel and a node of a Cluster, except to one command. */
export interface ScriptedRedis {
  readonly port: number;
  /** From now on that command, `cluster slots` say, gets those bytes (latin1). Null: all get valid replies. */
  respondWrongly(wrong: { readonly command: string; readonly bytes: string } | null): void;
  /** How many times the wrong reply was sent since it was set. */
  readonly struck: number;
  /** Ends every connection. */
  cut(): void;
}

const bulk = (text: string) => `$${Buffer.byteLength(text)}\r\n${text}\r\n`;
const list = (...items: string[]) => `*${items.length}\r\n${items.join('')}`;
const nil = '$-1\r\n';
const farAhead = () => Date.now() + 1_000_000;

/** Starts it on a free loopback port. */
export async function startScriptedRedis(t: TestScope): Promise<ScriptedRedis> {
  let wrong: { readonly command: string; readonly bytes: string } | null = null;
  let struck = 0;
  const place = () => [bulk('127.0.0.1'), `:${listener.port}\r\n`] as const;

  const script = ([shaOrSource]: readonly string[]) => {
    const { outcomes } = Object.values(scripts).find(
      ({ sha, source }) => shaOrSource === sha || shaOrSource === source,
    )!;
    return list(bulk(outcomes[0]!), `:${Date.now()}\r\n`, `:${farAhead()}\r\n`);
  };
  const responses: Record<string, (args: readonly string[], isSubscriber: boolean) => string> = {
    info: () => bulk('role:master\r\nredis_version:7.2.0\r\nloading:0\r\n'),
    ping: (_, isSubscriber) => (isSubscriber ? list(bulk('pong'), bulk('')) : '+PONG\r\n'),
    time: () => list(bulk(String(Math.floor(Date.now() / 1000))), bulk('0')),
    subscribe: ([channel]) => list(bulk('subscribe'), bulk(channel!), ':1\r\n'),
    // A session by password that asked for no scope.
    hmget: () => list(...['user', String(farAhead()), '0', 'password'].map(bulk), nil, nil, nil, nil),
    hgetall: () => list(),
    exists: (keys) => `:${keys.length}\r\n`,
    zrange: () => list(bulk('a-session')),
    zrem: () => ':1\r\n',
    evalsha: (args) => (wrong?.command === 'eval' ? '-NOSCRIPT No matching script.\r\n' : script(args)),
    eval: script,
    'cluster slots': () => list(list(':0\r\n', ':16383\r\n', list(...place()))),
    'cluster info': () => bulk('cluster_state:ok'),
    'sentinel get-master-addr-by-name': () => list(bulk('127.0.0.1'), bulk(String(listener.port))),
    'sentinel sentinels': () => list(),
  };

  const listener = await startRelayListener(t, (client) => {
    const read = createFrameReader();
    let isSubscriber = false;
    client.on('error', () => {});
    client.on('data', (chunk: Buffer) => {
      for (const { value } of read(chunk)) {
        const [first = '', ...rest] = (value as readonly unknown[]).map(String);
        const short = first.toLowerCase();
        const isLong = short === 'cluster' || short === 'sentinel';
        const name = isLong ? `${short} ${rest.shift()?.toLowerCase()}` : short;
        isSubscriber ||= name === 'subscribe';
        if (name === wrong?.command) {
          struck += 1;
          client.write(wrong.bytes, 'latin1');
        } else client.write(responses[name]?.(rest, isSubscriber) ?? '+OK\r\n');
      }
    });
    return { cut: () => client.destroy() };
  });
  const cut = () => {
    for (const connection of listener.connections) connection.cut();
  };
  return {
    port: listener.port,
    respondWrongly(next) {
      wrong = next;
      struck = 0;
    },
    get struck() {
      return struck;
    },
    cut,
  };
}
