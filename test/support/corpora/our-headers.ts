import type { RawResponse } from '../clients/raw-client.ts';
import type { SeenRequest } from '../servers/recording-upstream.ts';
import type { CorpusRow } from './corpus.ts';
import type { CorpusBench } from './corpus-bench.ts';
import { sentConnection, sentName } from './engine-differences.ts';
import type { RowChecks } from './row-checks.ts';

/** The headers by which an upstream knows who is calling and from where, as Postern writes them. */
export const identityHeaders = [
  'X-Auth-Subject',
  'X-Auth-Username',
  'X-Auth-Method',
  'X-Auth-Scopes',
  'X-Auth-Session-Id',
  'X-Auth-Key-Id',
  'X-Auth-Tenant',
  'X-Request-Id',
  'X-Forwarded-For',
  'X-Forwarded-Proto',
  'X-Forwarded-Host',
  'traceparent',
] as const;

/** Never the client's, in whatever spelling an upstream may fold: judged apart from the code that drops them. */
const protectedNames =
  /^(?:x-auth-.*|x-forwarded-.*|x-request-id|traceparent|x-real-ip|forwarded|proxy|authorization|x-api-key|host|content-length|transfer-encoding|te|trailer|keep-alive|proxy-connection|proxy-authorization|http2-settings|expect|script-name|path-info|daphne-root-path|x-script-name|x-original-(?:url|uri|method)|x-rewrite-url|(?:x-)?remote-user|remote-addr|x-http-method(?:-override)?|x-method-override)$/;

/** What an upstream that folds names makes of one. */
export function folded(name: string): string {
  return [...name.toLowerCase()].map((character) => (/[a-z0-9]/.test(character) ? character : '-')).join('');
}

/** Whether a header of that name must be Postern's own or absent. */
export function isProtected(name: string): boolean {
  return protectedNames.test(folded(name));
}

/** Asserts that every protected header the upstream saw is exactly Postern's: name, value, once. */
export function assertOurHeaders(
  checks: RowChecks,
  bench: CorpusBench,
  seen: SeenRequest,
  row: CorpusRow,
  responses: readonly RawResponse[],
): void {
  const [requestId = ''] = seen.values('x-request-id');
  const [traceparent = ''] = seen.values('traceparent');
  const ids = responses.flatMap((response) => response.values('x-request-id'));
  checks.ok(ids.includes(requestId), 'the upstream and the client are told the same id');
  checks.ok(/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(traceparent), `traceparent: ${traceparent}`);
  const host = row.host ?? bench.values.host!;
  const wanted: Record<string, string> = {
    ...bench.identities[row.as ?? 'key'],
    'X-Request-Id': requestId,
    'X-Forwarded-For': '127.0.0.1',
    'X-Forwarded-Proto': 'http',
    traceparent,
    ...(host === '' ? {} : { 'X-Forwarded-Host': host }),
    [sentName('Host')]: host === '' ? seen.values('host')[0]! : host,
    ...framingOf(seen),
  };
  const configured = new Set(
    Object.values(bench.identities).flatMap((names) => Object.keys(names).map(folded)),
  );
  const isOurs = (name: string) => isProtected(name) || configured.has(folded(name));
  const found = seen.rawHeaders.flatMap((name, i) =>
    i % 2 === 0 && isOurs(name) ? [[name, seen.rawHeaders[i + 1]!] as const] : [],
  );
  checks.same(Object.fromEntries(found), wanted, 'each of ours is there, and nobody else’s');
  checks.same(found.length, Object.keys(wanted).length, 'each of ours is there once');
  const vias = seen.rawHeaders.filter((name, i) => i % 2 === 0 && folded(name) === 'postern-via');
  checks.same(vias, ['Postern-Via'], 'once it says that it passed here');
  checks.ok(/(?:^|, )[A-Za-z0-9_-]{22}$/.test(seen.values('postern-via')[0] ?? ''), 'at its end');
  checks.same(
    seen.values('connection'),
    sentConnection(),
    'the Connection header is as this engine sends it',
  );
}

/** At most one framing header; the bytes of the body are judged by the row. */
function framingOf(seen: SeenRequest): Record<string, string> {
  const [length] = seen.values('content-length');
  if (length !== undefined) return { [sentName('Content-Length')]: String(seen.body.length) };
  return seen.values('transfer-encoding').length === 0 ? {} : { [sentName('Transfer-Encoding')]: 'chunked' };
}
