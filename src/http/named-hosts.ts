import { isIPv6 } from 'node:net';
import { Refusal } from '../errors.ts';
import { keptText } from '../http1/message/copied-text.ts';
import { nameOfOrigin } from '../rules/name-of-origin.ts';
import { RecentCache } from '../stores/recent-cache.ts';
import type { RequestHead } from './request-head.ts';

/** A further host that people enter with the sign-in at `base_url`, as a request names it. */
export interface NamedHost {
  /** The name, in lower case, without port and without a dot at its end; cookies know no more of a host (RFC 6265 §8.5). */
  readonly name: string;
  /** Origin of its pages, as browsers write it. */
  readonly origin: string;
  /** Index of its entry in `hosts`. */
  readonly entry: number;
  /** True for its own origin alone: pages of any other are foreign there, those of `base_url` and `cors.origins` too. */
  readonly isOwnOrigin: (origin: string) => boolean;
}

/** Test for the origins of known pages at a host: pages of a named host's own origin alone are known there. */
export type IsKnownOriginAt = (origin: string, host: NamedHost | null) => boolean;

/** Creates the test at every host from that at those without a name in `hosts`. */
export function atEachHost(isKnown: (origin: string) => boolean): IsKnownOriginAt {
  return (origin, host) => (host === null ? isKnown(origin) : host.isOwnOrigin(origin));
}

/** The host of a request that names none readably: its responses have the headers of a named host, and it has no route. */
export const unreadableHost: NamedHost = namedHost('', '', -1);

/** The parts of a request that name its host. */
export interface NamesHost {
  readonly head: Pick<RequestHead, 'host' | 'hostCount' | 'forwardedHost' | 'forwardedHostCount'>;
  /** True if the peer's `X-Forwarded-*` are trusted. */
  readonly fromTrustedProxy: boolean;
  /** The host that a proxy described, on a listener for decisions; null on the public listener. */
  readonly describedHost: string | null;
}

/** The host of a request. */
export interface CalledHost {
  /** The host as it was sent, with its port; empty: none was sent. */
  readonly text: string;
  /** Null: none of `hosts`. */
  readonly named: NamedHost | null;
  /** True if the name is `base_url`'s. */
  readonly isBaseUrl: boolean;
}

/** Finds the host of a request. Throws `bad_request` if it can't be read, or if proxy and client name different ones. */
export type FindHost = (request: NamesHost) => CalledHost;

/** Reading of a text that names a host. */
interface Reading extends CalledHost {
  /** The name, if the configuration has it, under a wildcard too; empty for any other. */
  readonly configured: string;
}

/** Matches a name or IPv4 address, or a bracketed IPv6 address, and the port; captures the name without a dot at its end. */
const hostText = /^(?:((?:[\w-]+\.)*[\w-]+)\.?|(\[[0-9A-Fa-f:.]+\]))(?::\d*)?$/;
/** Hosts whose readings are kept: clients may send any name. */
const keptReadings = 1_000;

/** The configured hosts. */
export interface HostNames {
  /** The entries, origins in whose names `*` may stand for the first label. */
  readonly hosts: readonly string[];
  readonly baseUrl: string;
  /** The console's own origin; undefined: it has none. */
  readonly console: string | undefined;
}

/** Finds the entry that has a name, in lower case and without port; null: there is none. */
type FindByName = (name: string) => NamedHost | null;

/** Creates the {@link FindByName}; the names of `base_url` and of the console come before each entry. */
function createFindByName({ hosts, baseUrl, console }: HostNames): FindByName {
  const own = ownNames({ baseUrl, console });
  const exact = new Map<string, NamedHost>();
  const wildcards = new Map<
    string,
    { readonly entry: number; readonly before: string; readonly after: string }
  >();
  for (const [entry, origin] of hosts.entries()) {
    const name = nameOfOrigin(origin);
    if (!name.startsWith('*.')) exact.set(name, namedHost(name, origin, entry));
    else {
      const [before = '', after = ''] = origin.split('*');
      wildcards.set(name.slice(1), { entry, before, after });
    }
  }

  return (name) => {
    if (own.has(name)) return null;
    const found = exact.get(name);
    if (found !== undefined) return found;
    const dot = name.indexOf('.');
    const wildcard = dot < 1 || dot > maxLabel ? undefined : wildcards.get(name.slice(dot));
    if (wildcard === undefined) return null;
    const { entry, before, after } = wildcard;
    return namedHost(name, before + name.slice(0, dot) + after, entry);
  };
}

function ownNames({ baseUrl, console }: Pick<HostNames, 'baseUrl' | 'console'>): ReadonlySet<string> {
  return new Set([nameOfOrigin(baseUrl), ...(console === undefined ? [] : [nameOfOrigin(console)])]);
}

/** Finds the entry that has an origin, exactly as browsers write it; null: there is none. */
export type FindByOrigin = (origin: string) => NamedHost | null;

/** Creates the {@link FindByOrigin}. */
export function createFindByOrigin(names: HostNames): FindByOrigin {
  const findByName = createFindByName(names);
  return (origin) => {
    const name = writtenOrigin.exec(origin)?.[1];
    const found = name === undefined ? null : findByName(name);
    return found?.origin === origin ? found : null;
  };
}

/** Matches an origin as browsers write it, without user and path; captures the name. */
const writtenOrigin = /^https?:\/\/([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/;

/** Creates the function that finds the hosts of requests. */
export function createFindHost(names: HostNames): FindHost {
  const findByName = createFindByName(names);
  const baseName = nameOfOrigin(names.baseUrl);
  const own = ownNames(names);

  function read(text: string): Reading {
    const [, spelled, address] = text.length > maxHost ? [] : (hostText.exec(text) ?? []);
    if (spelled === undefined && !isIPv6(address?.slice(1, -1) ?? '')) throw unreadable();
    const name = (spelled ?? address!).toLowerCase();
    const named = findByName(name);
    const configured = named !== null || own.has(name) ? name : '';
    return { text, named, isBaseUrl: name === baseName, configured };
  }

  const readings = new RecentCache<Reading>(keptReadings);
  function readingOf(text: string): Reading {
    let reading = readings.get(text);
    if (reading === undefined) {
      const kept = keptText(text);
      reading = read(kept);
      readings.set(kept, reading);
    }
    return reading;
  }

  return ({ head, fromTrustedProxy, describedHost }) => {
    if (describedHost !== null) return readingOf(describedHost);
    const sent = head.hostCount === 0 ? noHost : readingOf(onlyOne(head.host, head.hostCount));
    if (!fromTrustedProxy || head.forwardedHostCount === 0) return sent;
    const forwarded = readingOf(onlyOne(head.forwardedHost, head.forwardedHostCount));
    const differ =
      sent.configured !== '' && forwarded.configured !== '' && sent.configured !== forwarded.configured;
    if (differ)
      throw new Refusal('bad_request', { close: true, reason: 'proxy and client name different hosts' });
    return forwarded;
  };
}

function namedHost(name: string, origin: string, entry: number): NamedHost {
  return { name, origin, entry, isOwnOrigin: (other) => other === origin };
}

/** Maximum length of a name's label (RFC 1035 §2.3.4), and of a host with its port. */
const maxLabel = 63;
const maxHost = 261;

const noHost: Reading = { text: '', named: null, isBaseUrl: false, configured: '' };

function onlyOne(value: string, count: number): string {
  if (count > 1) throw unreadable();
  return value;
}

function unreadable(): Refusal {
  return new Refusal('bad_request', { close: true, reason: 'host header' });
}
