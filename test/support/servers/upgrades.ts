import type { Socket } from 'node:net';
import { connectRaw, type RawConnection } from '../clients/raw-client.ts';
import { eventually, type Forwarding, startForwarding } from '../gateway/forwarding.ts';
import type { TestScope } from '../gateway/gateway.ts';
import { type RawUpstream, startRawUpstream } from './raw-upstream.ts';
import { webSocketLines } from './web-sockets.ts';

/** The response by which an upstream agrees to a protocol. */
export function switchingResponse(protocol = 'websocket', ...lines: string[]): string {
  const head = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', `Upgrade: ${protocol}`];
  return [...head, ...lines, '', ''].join('\r\n');
}

/** Both ends of an upgraded connection, as bytes. */
export interface Tunnel {
  readonly client: RawConnection;
  readonly upstream: Socket;
}

export interface TunnelOptions {
  /** The lines that ask for it; those of a WebSocket by default. */
  readonly lines?: readonly string[];
  /** What the client sends after its request, before the response. */
  readonly early?: string;
  /** Neither side ends its half when the other does. */
  readonly halfOpen?: boolean;
}

/** A gateway whose upstream agrees to everything by hand. */
export interface TunnelGateway extends Forwarding {
  readonly bytes: RawUpstream;
  /** Upstream ends of tunnels so far. */
  readonly ends: readonly Socket[];
  /** Resolves once both sides have switched. */
  openTunnel(options?: TunnelOptions): Promise<Tunnel>;
}

/** Starts it; `foo` may be switched to on `/api/foo`. `settings` are those of the upstream. */
export async function startTunnelGateway(
  t: TestScope,
  { settings = {}, config = {} }: { readonly settings?: object; readonly config?: object } = {},
): Promise<TunnelGateway> {
  const ends: Socket[] = [];
  const bytes = await startRawUpstream(t, ({ socket, text }) => {
    const protocol = /^upgrade: (.*)\r$/im.exec(text)?.[1];
    if (protocol === undefined) return;
    ends.push(socket);
    socket.write(switchingResponse(protocol));
  });
  const gateway = await startForwarding(t, {
    upstreams: { app: { url: bytes.url, ...settings } },
    routes: [
      { prefix: '/api/foo', upstream: 'app', upgrades: ['foo'] },
      { prefix: '/api', upstream: 'app' },
    ],
    shutdown: { timeout: '50ms' },
    ...config,
  });
  return {
    ...gateway,
    bytes,
    ends,
    async openTunnel({ lines = webSocketLines, early = '', halfOpen = false } = {}) {
      const client = await connectRaw(gateway.port, undefined, halfOpen);
      client.write(gateway.raw('GET /api/foo/live HTTP/1.1', lines, early));
      const { status } = await client.response({ toHead: true });
      if (status !== 101) throw new Error(`the upgrade was answered ${status}`);
      const upstream = ends.at(-1)!;
      upstream.allowHalfOpen = halfOpen;
      return { client, upstream };
    },
  };
}

/** The access line of the last upgrade, once it is there. */
export async function accessLineOfUpgrade(
  gateway: Pick<Forwarding, 'logLines'>,
): Promise<Record<string, unknown>> {
  const find = () => gateway.logLines().find(({ status }) => status === 101);
  await eventually(() => find() !== undefined);
  return find()!;
}
