import type { ReadRequest } from '../servers/fuzz-servers.ts';
import type { Alarm } from './alarms.ts';
import { folded, isProtected } from './our-headers.ts';

/** A caller, and the identity headers that the upstream must get. */
export type ExpectedIdentity = Readonly<Record<string, string>>;

/** The refresh cookie as servers read it, also as the value of a cookie without a name. */
const ownCookie = /(?:^|;)\s*=?\s*service_refresh_cookie\s*(?:[=;]|$)/;
const framing = ['content-length', 'transfer-encoding'];

function valuesOf(rawHeaders: readonly string[], name: string): string[] {
  return rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]!.toLowerCase() === name);
}

/** What of the head that the upstream read is not as the gateway promises. */
export function alarmsOfHead(request: ReadRequest, client: string, identity: ExpectedIdentity): string[] {
  const { rawHeaders } = request;
  const alarms: string[] = [];
  for (const name of ['host', 'x-request-id', 'traceparent', 'x-forwarded-for', 'x-forwarded-proto'])
    if (valuesOf(rawHeaders, name).length !== 1) alarms.push(`${name} is not there once`);
  if (valuesOf(rawHeaders, 'x-forwarded-for')[0] !== client) alarms.push('x-forwarded-for is another’s');
  if (framing.flatMap((name) => valuesOf(rawHeaders, name)).length > 1) alarms.push('framed twice');
  const names = rawHeaders.filter((_, i) => i % 2 === 0);
  const told = names.filter((name) => /^x-auth-/i.test(name)).map((name) => name.toLowerCase());
  if (told.length > 0) {
    const expected = Object.entries(identity);
    const isExact = expected.every(([name, value]) => valuesOf(rawHeaders, name)[0] === value);
    if (!isExact || told.length !== expected.length) alarms.push('an identity that is not the caller’s');
  }
  for (const [index, name] of names.entries()) {
    if (/[^A-Za-z0-9-]/.test(name)) alarms.push('an odd name');
    const isOurs =
      /^(?:host|content-length|transfer-encoding|x-request-id|traceparent|x-forwarded-(?:for|proto|host)|x-auth-.*)$/i;
    if (isProtected(name) && !isOurs.test(name)) alarms.push(`${folded(name)} came through`);
    // A host is the client's to name.
    if (/evil/.test(rawHeaders[2 * index + 1]!) && isProtected(name) && !/host$/i.test(name))
      alarms.push('a header of the client’s making');
  }
  if (valuesOf(rawHeaders, 'cookie').some((value) => ownCookie.test(value))) alarms.push('an own cookie');
  return alarms;
}

/** The first request that the upstream read differently from the strict reader; undefined if there is none. */
export function firstUnread(
  upstream: readonly ReadRequest[],
  reference: readonly ReadRequest[],
): { readonly seen: ReadRequest; readonly kind: string } | undefined {
  let at = 0;
  for (const seen of upstream) {
    const from = at;
    while (at < reference.length && !isSame(seen, reference[at]!)) at++;
    if (at === reference.length) {
      const isAlike = reference.slice(from).some((read) => isSame(seen, { ...read, whole: true }));
      const kind = isAlike ? 'a strict reader refuses the end of it' : 'a strict reader reads otherwise';
      return { seen, kind };
    }
    at++;
  }
  return undefined;
}

function isSame(seen: ReadRequest, read: ReadRequest): boolean {
  if (seen.method !== read.method || seen.target !== read.target) return false;
  // A truncated body may be longer in one place than in the other.
  return seen.whole
    ? read.whole && seen.body === read.body
    : read.body.startsWith(seen.body) || seen.body.startsWith(read.body);
}

/** Compares what the client received with what the upstream sent. */
export function alarmsOfResponses(received: string, upstream: readonly ReadRequest[]): string[] {
  const alarms: string[] = [];
  if (received !== '' && !received.startsWith('HTTP/1.1 ')) alarms.push('bytes that are no response');
  const marks = [...received.matchAll(/^X-Mark: (.*?)\r$/gm)].map(([, mark]) => mark);
  if (marks.some((mark, index) => mark !== upstream[index]?.mark)) alarms.push('another’s response');
  return alarms;
}

/** What two readers made of a request, in short. */
export function inShort({ method, target, body, whole }: ReadRequest): string {
  return `${method} ${target} ${whole ? 'with' : 'that breaks off in'} ${JSON.stringify(body)}`;
}

/** Puts an alarm into words. */
export function requestAlarm(kind: string, bytes: Buffer, more: unknown = ''): Alarm {
  return { kind, detail: `${JSON.stringify(bytes.toString('latin1'))} ${JSON.stringify(more)}` };
}
