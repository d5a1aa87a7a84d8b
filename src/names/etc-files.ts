import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { NameError } from './name-error.ts';

/** A file of `/etc` as text, empty if it doesn't exist; throws `EAI_AGAIN` for `host` if it can't be read. */
export function readEtcFile(path: string, host: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return '';
    // Out of descriptors, say: a name that is listed must not count as one that doesn't exist.
    throw new NameError('EAI_AGAIN', host, code);
  }
}

/** Addresses of `host`, in lower case, according to the text of hosts(5); malformed lines are skipped, as by every reader. */
export function listedAddresses(text: string, host: string): readonly string[] {
  const found = new Set<string>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.split('#', 1)[0]!.trim().split(/\s+/);
    if (names.some((name) => name.toLowerCase() === host) && isIP(address) !== 0) found.add(address);
  }
  return [...found];
}

/**
 * Parses nsswitch.conf(5); without a line for hosts, glibc asks files and name servers, as musl always does. `isUsual` is true if
 * files come first and name servers second, with their usual actions; otherwise only the C library can do the lookup. `hasMore`
 * is true if the C library has further sources to ask.
 */
export function parseNameSources(text: string) {
  const listed = /^\s*hosts:([^#\n]*)/m.exec(text)?.[1] ?? 'files dns';
  const [first, second, ...more] = listed.match(/\[[^\]]*\]|[^\s[]+/g) ?? [];
  const isUsual = first === 'files' && second === 'dns' && !more[0]?.startsWith('[');
  return { isUsual, hasMore: more.length > 0 };
}

/** The rules of resolv.conf(5) for names; c-ares reads the name servers in it. */
export type ResolvConf = ReturnType<typeof parseResolvConf>;

/** Maximum that resolv.conf(5) allows. */
const maxNdots = 15;

/**
 * Parses resolv.conf(5). `search`: domains to search, in order, by default that of `machine`; an empty one is the root. `ndots`:
 * a name with at least this many dots is looked up unchanged first. `isWithoutIPv6`: IPv6 addresses are never asked for.
 */
export function parseResolvConf(text: string, machine: string) {
  const dot = machine.indexOf('.');
  let search = dot < 0 ? [] : [machine.slice(dot + 1)];
  let ndots = 1;
  let isWithoutIPv6 = false;
  for (const line of text.split('\n')) {
    const [key, ...values] = line.trim().split(/\s+/);
    // The last one counts.
    if (key === 'search') search = values;
    else if (key === 'domain') search = values.slice(0, 1);
    else if (key === 'options')
      for (const option of values) {
        const [, count] = /^ndots:(\d+)$/.exec(option) ?? [];
        if (count !== undefined) ndots = Math.min(maxNdots, Number(count));
        if (option === 'no-aaaa') isWithoutIPv6 = true;
      }
  }
  return { search: search.map((domain) => domain.replace(/^\.|\.$/g, '')), ndots, isWithoutIPv6 };
}

/** Full names that a name may stand for, in the order to look them up. */
export function candidatesOf(
  host: string,
  { search, ndots }: Pick<ResolvConf, 'search' | 'ndots'>,
): readonly string[] {
  if (host.endsWith('.')) return [host.slice(0, -1)];
  const searched = search.map((domain) => (domain === '' ? host : `${host}.${domain}`));
  const dots = host.split('.').length - 1;
  // Once, where the root is in the list.
  return [...new Set(dots >= ndots ? [host, ...searched] : [...searched, host])];
}
