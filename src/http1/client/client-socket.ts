import { isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** TLS settings for an upstream; certificates and key in PEM. */
export interface UpstreamTls {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
  readonly serverName?: string;
}

/** Finds the addresses of a host name; calls `done` once, perhaps synchronously. The returned function cancels the call. */
export type FindAddresses = (
  host: string,
  done: (error: Error | null, addresses: readonly string[]) => void,
) => () => void;

/** Address of an upstream, and how to connect to it. */
export interface SocketTarget {
  readonly address: { readonly host: string; readonly port: number } | { readonly socketPath: string };
  /** Null for plain HTTP. */
  readonly tls: UpstreamTls | null;
  /** Finds the addresses of `host` if it is a name. */
  readonly findAddresses: FindAddresses;
  /** Shortest connect timeout of any request, ms: all addresses are tried well within it. */
  readonly connectTimeoutMs: number;
  /** Supply of sockets for a connection's parallel attempts beyond the first; default: unlimited. */
  readonly spareSockets?: SpareSockets;
}

/** Limited number of sockets, shared by all connections that are being opened. */
export interface SpareSockets {
  /** Takes a socket; false if none is left. */
  take(): boolean;
  giveBack(): void;
}

/** Begins TLS on a connected socket; the returned socket replaces it. */
export function startTls(socket: Socket, { address, tls }: SocketTarget): Socket {
  const { ca, cert, key, serverName } = tls!;
  const host = 'host' in address ? address.host : undefined;
  // RFC 6066 §3 allows no IP address as a server name; the certificate is still checked against the address.
  const servername = serverName ?? (host !== undefined && isIP(host) === 0 ? host : undefined);
  return connectTls({
    socket,
    ...(host && { host }),
    ca,
    cert,
    key,
    servername,
    ALPNProtocols: ['http/1.1'],
  });
}
