import { isIP, connect as netConnect, type Socket } from 'node:net';
import { connect as tlsConnect } from 'node:tls';

/** TLS towards an upstream; PEM texts. */
export interface UpstreamTls {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
  readonly serverName?: string;
}

/** Where an upstream listens. */
export interface SocketTarget {
  readonly address: { readonly host: string; readonly port: number } | { readonly socketPath: string };
  /** Null for plain HTTP. */
  readonly tls: UpstreamTls | null;
}

/** The event that a socket of {@link connectSocket} emits when it is ready. */
export type ConnectEvent = 'connect' | 'secureConnect';

/** Which of them the socket of this target emits. */
export function connectEvent({ tls }: SocketTarget): ConnectEvent {
  return tls === null ? 'connect' : 'secureConnect';
}

/** Connects to an upstream. */
export function connectSocket({ address, tls }: SocketTarget): Socket {
  const where = {
    ...('socketPath' in address ? { path: address.socketPath } : address),
    // The two directions of an upgraded connection end separately.
    allowHalfOpen: true,
  };
  if (tls === null) return netConnect(where);
  const { ca, cert, key, serverName } = tls;
  // RFC 6066 §3 allows no IP address as a server name; the certificate is checked against it all the same.
  const servername = serverName ?? ('host' in address && isIP(address.host) === 0 ? address.host : undefined);
  return tlsConnect({ ...where, ca, cert, key, servername, ALPNProtocols: ['http/1.1'] });
}
