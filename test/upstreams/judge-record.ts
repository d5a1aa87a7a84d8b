import type { Test } from 'tap';
import { isProtected } from '../support/corpora/our-headers.ts';
import { type Handler, handlers, routeOf } from './handlers.ts';
import type { SeenByHandler } from './real-server.ts';
import type { AccessLine, UpstreamBench } from './upstream-bench.ts';

/** Headers that servers take for mount point, target, method or user. */
export const misleadingHeaders: readonly string[] = [
  ...['Script-Name', 'Path-Info', 'Daphne-Root-Path', 'X-Script-Name', 'X-Original-URL', 'X-Original-URI'],
  ...['X-Original-Method', 'X-Rewrite-URL', 'Remote-User', 'X-Remote-User', 'Remote-Addr', 'X-HTTP-Method'],
  ...[
    'X-HTTP-Method-Override',
    'X-Method-Override',
    'X-Forwarded-Prefix',
    'X-Forwarded-Uri',
    'X-Forwarded-User',
  ],
];

/** In any spelling. */
const misleadingNames: ReadonlySet<string> = new Set(misleadingHeaders.map((name) => name.toLowerCase()));

/** The gateway's own headers that a handler need not report. */
const unheard =
  /^(?:host|content-length|transfer-encoding|connection|expect|te|trailer|traceparent|keep-alive)$/;

/** Strict handlers, and the methods for which others are strict. */
export function needsAdmin({ demands, adminMethods }: Handler, method: string): boolean {
  return demands === 'admin' || (adminMethods?.(method) ?? false);
}

/**
 * Checks what the handlers recorded against the gateway's log: no strict handler saw a request that the gateway did not
 * admit to that handler's route, `controls` requests were admitted, and all identity headers are the gateway's own.
 * Returns the number of requests that reached a handler.
 */
export async function judgeRecord(t: Test, bench: UpstreamBench, controls: number): Promise<number> {
  const { seen, lines: all } = await bench.settled();
  const logged = linesById(all);
  const failures: string[] = [];
  let admitted = 0;
  for (const entry of seen) {
    const headers = headersOf(entry);
    const ids = headers.get('x-request-id') ?? [];
    const lines = logged.get(ids.join()) ?? [];
    const fail = (what: string) =>
      failures.push(`${what}: ${JSON.stringify(entry)} ${JSON.stringify(lines)}`.slice(0, 1_500));
    if (lines.length === 0) {
      fail('no request of the gateway’s');
      continue;
    }
    const handler = handlers.find(({ path }) => path === entry.handler);
    if (handler !== undefined && needsAdmin(handler, entry.method)) {
      const line = lines.find(({ route }) => route === routeOf(handler));
      if (line?.key !== bench.adminKey.id || line.method !== entry.method) fail('reached the strict handler');
      else admitted++;
    }
    if (handler?.demands === 'own') fail('reached an own path');
    if (entry.root !== '') fail('a mount point');
    if (entry.scheme !== 'http') fail('a scheme');
    if (!['', '-'].includes(entry.user)) fail('a user');
    for (const misled of [...headers.keys()].filter((name) => misleadingNames.has(name))) fail(misled);
    const told = Object.fromEntries(
      [...headers].filter(([name]) => isProtected(name) && !unheard.test(name)),
    );
    if (!lines.some((line) => isToldBy(told, line, bench, ids))) fail('not what the gateway says');
  }
  t.strictSame(failures.slice(0, 10), [], `${failures.length} of ${seen.length} requests are wrong`);
  t.equal(admitted, controls, 'all requests admitted to the strict handlers reached them');
  return seen.length;
}

function linesById(lines: readonly AccessLine[]): Map<string, AccessLine[]> {
  const byId = new Map<string, AccessLine[]>();
  for (const line of lines) {
    const before = byId.get(line.request_id);
    if (before === undefined) byId.set(line.request_id, [line]);
    else before.push(line);
  }
  return byId;
}

/** Values by name, as a server that folds names would see them, without those that a log marks as absent. */
function headersOf({ headers }: SeenByHandler): Map<string, string[]> {
  const byName = new Map<string, string[]>();
  for (const [name, value] of headers) {
    if (value === '' && !/scopes/i.test(name)) continue;
    // Apache logs an absent header like this.
    if (value === '-' && !/request.id/i.test(name)) continue;
    const folded = name.toLowerCase().replace(/[^a-z0-9]/g, '-');
    byName.set(folded, [...(byName.get(folded) ?? []), value]);
  }
  return byName;
}

/** Whether the identity headers are exactly those of the caller in that log line, once each. */
function isToldBy(
  told: Readonly<Record<string, readonly string[]>>,
  line: AccessLine,
  bench: UpstreamBench,
  ids: readonly string[],
): boolean {
  const identity = bench.identities.get(line.key ?? line.session ?? '');
  const wanted: Record<string, string> = {
    ...identity,
    'x-request-id': ids[0]!,
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-proto': 'http',
  };
  const { 'x-forwarded-host': hosts, 'x-auth-scopes': scopes, ...rest } = told;
  // An HTTP/1.0 request may have no `Host`; a log may write an absent header as an empty string.
  if ((hosts?.length ?? 0) > 1) return false;
  if ((scopes?.join() ?? '') !== (wanted['x-auth-scopes'] ?? '')) return false;
  delete wanted['x-auth-scopes'];
  const names = Object.keys(rest);
  return (
    names.length === Object.keys(wanted).length &&
    names.every((name) => rest[name]!.length === 1 && rest[name]![0] === wanted[name])
  );
}
