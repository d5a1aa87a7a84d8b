import type { Socket } from 'node:net';
import type { TestScope } from '../gateway/gateway.ts';
import { startRelayListener } from './relay-listener.ts';
import { relayTcp, type TcpRelayConnection } from './tcp-relay-connection.ts';

/**
 * Picks a kind of connection by the first piece its client sent, e.g. `hasApplicationName('listener')`. One that has not
 * sent anything is of no kind yet.
 */
export type ConnectionKind = (opening: Buffer) => boolean;

/** Where a relay leads. */
export interface RelayTarget {
  readonly port: number;
  /** With that port in it. */
  readonly url: string;
}

/** A relay between clients and a server of whatever protocol. */
export interface TcpRelay extends RelayTarget {
  /** Connections accepted so far. */
  readonly accepted: number;
  /** Connections open now, of that kind or all. */
  open(kind?: ConnectionKind): number;
  /** Ends the connections there are, of that kind or all, whatever is under way on them. */
  cut(kind?: ConnectionKind): void;
  /** Ends them and refuses new ones; those of a kind are ended once they are known to be, before anything is passed on. */
  refuse(kind?: ConnectionKind): Promise<void>;
  /** Connections, of that kind or all, stay and are made, and nothing that comes on them is passed on or answered. */
  blackHole(kind?: ConnectionKind): void;
  /** What clients send, of that kind or all, is passed on that much later, also on connections there are: ms, 0 ends it. */
  delay(milliseconds: number, kind?: ConnectionKind): void;
  /** Ends all of that but for {@link TcpRelay.retarget}; connections from within a black hole stay silent. */
  restore(): Promise<void>;
  /** Leads new connections there, as after a failover; those there are stay where they are. */
  retarget(target: { readonly port: number }): void;
}

/** Starts one in front of that server, on a free loopback port; its `url` is the target's with the relay's port. */
export async function startTcpRelay(t: TestScope, target: RelayTarget): Promise<TcpRelay> {
  const rules: Rules = { refused: [], silent: [], delays: [] };
  let targetPort = target.port;
  const judge = (connection: TcpRelayConnection) => {
    if (rules.refused.some((kind) => isOf(connection, kind))) connection.cut();
    if (rules.silent.some((kind) => isOf(connection, kind))) connection.silence();
  };
  const delayOf = (connection: TcpRelayConnection) =>
    rules.delays.findLast(({ kind }) => isOf(connection, kind))?.milliseconds ?? 0;
  const relay = (client: Socket) => {
    const connection = relayTcp(client, targetPort, judge, delayOf);
    judge(connection);
    return connection;
  };
  const listener = await startRelayListener(t, relay, { allowHalfOpen: true });
  const { port, connections } = listener;
  const ofKind = (kind?: ConnectionKind) => [...connections].filter((each) => isOf(each, kind));
  const cut = (kind?: ConnectionKind) => {
    for (const connection of ofKind(kind)) connection.cut();
  };
  return {
    port,
    url: target.url.replace(`:${target.port}`, `:${port}`),
    get accepted() {
      return listener.accepted;
    },
    open: (kind) => ofKind(kind).length,
    cut,
    async refuse(kind) {
      if (kind === undefined) return listener.close();
      rules.refused.push(kind);
      cut(kind);
    },
    blackHole(kind) {
      rules.silent.push(kind);
      for (const connection of ofKind(kind)) connection.silence();
    },
    delay(milliseconds, kind) {
      rules.delays.push({ milliseconds, kind });
    },
    async restore() {
      for (const list of [rules.refused, rules.silent, rules.delays]) list.length = 0;
      await listener.reopen();
    },
    retarget(next) {
      targetPort = next.port;
    },
  };
}

/** What holds for connections, of a kind or all, until it is restored. */
interface Rules {
  readonly refused: ConnectionKind[];
  readonly silent: (ConnectionKind | undefined)[];
  /** The last that holds counts. */
  readonly delays: { readonly milliseconds: number; readonly kind: ConnectionKind | undefined }[];
}

function isOf({ opening }: TcpRelayConnection, kind: ConnectionKind | undefined): boolean {
  return kind === undefined || (opening !== null && kind(opening));
}
