import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import { listenHostRule } from '../../config/values/addresses.ts';
import { hostPattern } from '../../config/values/authority.ts';
import { parseUpstreamAddress } from '../../config/values/upstream-address.ts';

/** Host and port of a listener; the host is a name, or an IP address without brackets. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

const hostAndPortPattern = new RegExp(`^${hostPattern}$`);

/**
 * Parses the address of a service, as people write it, into an upstream's URL: in addition to those, `:9000`, `9000` and
 * `HOST:PORT` mean http. A path of a socket becomes absolute. Throws a RangeError whose message is the rule.
 */
export function parseServiceAddress(text: string, folder: string): string {
  const [, port] = /^:?(\d{1,5})$/.exec(text) ?? [];
  // By name, because a service may listen on ::1 alone.
  const url = port !== undefined ? `http://localhost:${port}` : withScheme(text);
  try {
    const address = parseUpstreamAddress(url);
    if (address.kind === 'socket') return `unix:${resolve(folder, address.path)}`;
    if (address.kind === 'echo' || address.basePath === '') return url;
  } catch {
    // The message below says what is expected.
  }
  throw new RangeError('must be HOST:PORT, :PORT, an http:// or https:// URL without path, or unix:PATH');
}

function withScheme(text: string): string {
  if (hostAndPortPattern.test(text) && /:\d+$/.test(text)) return `http://${text}`;
  return /^https?:\/\/[^/]+\/$/.test(text) ? text.slice(0, -1) : text;
}

/**
 * Parses `[HOST:]PORT`, in which the host may be empty; `defaultHost` is used without one. Throws a RangeError whose message is
 * the rule.
 */
export function parseListenAddress(text: string, defaultHost: string): ListenAddress {
  const [, name, port = ''] = /^(?:(.*?):)?(\d{1,5})$/.exec(text) ?? [];
  const host = name === undefined || name === '' ? defaultHost : name.replace(/^\[(.*)\]$/, '$1');
  const isBare = name?.includes(':') === true && !name.startsWith('[');
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535 || isBare || listenHostRule(host) !== undefined)
    throw new RangeError('must be PORT or HOST:PORT, an IPv6 address in brackets');
  return { host, port: Number(port) };
}

/** The origin under which browsers reach a listener: for an unspecified address, that of this machine in its network. */
export function originOf({ host, port }: ListenAddress): string {
  const name = isUnspecified(host) ? machineAddress() : host.includes(':') ? `[${host}]` : host;
  return new URL(`http://${name}:${port}`).origin;
}

function isUnspecified(host: string): boolean {
  return ipaddr.isValid(host) && ipaddr.parse(host).range() === 'unspecified';
}

function machineAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
  return addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}

/** The port of an upstream's URL on this or another machine; undefined for a socket or the built-in echo. */
export function portOfService(url: string): number | undefined {
  const address = parseUpstreamAddress(url);
  return address.kind === 'server' ? address.port : undefined;
}

/** Number of ports that are tried one after the other. */
const triedPorts = 20;

/** The first port of a host, from `first` on, that no one listens on and that isn't taken otherwise; if there is none, any. */
export async function freePort(host: string, first: number, taken: readonly number[] = []): Promise<number> {
  for (let port = first; port < first + triedPorts; port++)
    if (!taken.includes(port) && (await isFree({ host, port }))) return port;
  return usedPort({ host, port: 0 });
}

async function isFree(address: ListenAddress): Promise<boolean> {
  return usedPort(address).then(
    () => true,
    () => false,
  );
}

/** Listens for a moment; resolves to the port, which the system chooses for port 0. Rejects with the error of listening. */
export async function usedPort({ host, port }: ListenAddress): Promise<number> {
  const server = createServer().listen({ host, port });
  await once(server, 'listening');
  const { port: used } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return used;
}
