import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { pathsKeys } from '../../src/config/values/passed-by.ts';
import { connectRaw, exchangeRaw } from '../support/clients/raw-client.ts';
import { type CorpusRow, expand, piecesOf, readCorpus } from '../support/corpora/corpus.ts';
import { spellingsOf } from '../support/corpora/header-spellings.ts';
import { identityHeaders } from '../support/corpora/our-headers.ts';
import { isLong, repeat } from '../support/gateway/gateway-under-load.ts';
import { handlers, ownHandlers, routeOf, strictHandlers } from './handlers.ts';
import { judgeRecord, misleadingHeaders, needsAdmin } from './judge-record.ts';
import { kindsOfServer, type ServerName } from './kinds-of-server.ts';
import { pathTricks } from './path-tricks.ts';
import type { ServerKind } from './real-server.ts';
import { startUpstreamBench, type UpstreamBench } from './upstream-bench.ts';

/** How many rows are in flight at once. */
const parallel = 12;
/** A connection that is still open after this is abandoned. */
const waitLimitMs = 6_000;

/** Whether the server is installed; if not, the test is reported as skipped. */
export function requireServer(t: Test, name: ServerName): boolean {
  const reason = isLong ? kindsOfServer[name].missing() : 'runs with POSTERN_TEST_LONG alone';
  if (reason === undefined) return true;
  t.pass(`needs ${name}`, { skip: reason });
  return false;
}

/** A valid request after a row, which closes the connection. */
const after = 'GET /api/open/after HTTP/1.1\r\n{{nobody}}Connection: close\r\n\r\n';

/**
 * Sends a row, then a valid request on the same connection: however the server reads the row, the connection ends with
 * that request, or by the gateway's timeouts if the row's message never ended.
 */
async function sendRow(bench: UpstreamBench, row: CorpusRow, more: Record<string, string>): Promise<void> {
  const values = { ...bench.values, ...more };
  const connection = await connectRaw(bench.gateway.port);
  const late = setTimeout(() => connection.reset(), waitLimitMs);
  for (const piece of [...piecesOf(row, values), expand(after, values)]) {
    connection.write(piece);
    await sleep(5);
  }
  await connection.closed;
  clearTimeout(late);
}

/** Sends the rows, some at a time. `X-Row` tells the record which one it was. */
async function sendRows(
  bench: UpstreamBench,
  rows: readonly CorpusRow[],
  more: Record<string, string> = {},
): Promise<void> {
  await repeat(rows.length, parallel, (i) => sendRow(bench, rows[i]!, { row: `${i}`, ...more }));
}

/** Authorised callers reach every handler, so that a request which doesn't reach one was kept from it. */
async function sendControls(bench: UpstreamBench, unreached?: string): Promise<number> {
  let admitted = 0;
  for (const handler of handlers)
    for (const method of ['GET', 'POST']) {
      const path = routeOf(handler);
      const { status } = await bench.gateway.api.send({ method, path, apiKey: bench.adminKey.key });
      if (needsAdmin(handler, method) && status !== 404 && handler.path !== unreached) admitted++;
    }
  return admitted;
}

const everything = Object.fromEntries(pathsKeys.map((key) => [key, 'pass']));
const pathsOfOneKey = Object.fromEntries(pathsKeys.map((key) => [key, { [key]: 'pass' }]));

/** `paths` with nothing, each key, and everything passed; what each passes is judged by the path corpora. */
const switches: Readonly<Record<string, object>> = {
  nothing: {},
  ...pathsOfOneKey,
  everything,
};

/** Runs all checks against one server. */
export async function judgeUpstream(t: Test, name: ServerName): Promise<void> {
  if (!requireServer(t, name)) return;
  const kind: ServerKind = kindsOfServer[name];

  await t.test('controls', async (t) => {
    const bench = await startUpstreamBench(t, kind);
    const controls = await sendControls(bench, kind.unreached);
    const reachable = strictHandlers.filter(({ path }) => path !== kind.unreached);
    t.equal(controls, reachable.length * 2 + 2, 'every strict handler, and the methods of the others');
    await judgeRecord(t, bench, controls);
  });

  for (const [passed, paths] of Object.entries(switches))
    await t.test(`paths that a server may read as a strict or an own one; passed: ${passed}`, async (t) => {
      const bench = await startUpstreamBench(t, kind, { paths });
      const targets = [...strictHandlers, ...ownHandlers].flatMap((handler) => pathTricks(routeOf(handler)));
      const step = !kind.isSlow ? 1 : passed in pathsOfOneKey ? 16 : 4;
      const lines = ['{{nobody}}{{identity}}', '{{good}}'];
      const bytes = targets.flatMap(({ target }, i) =>
        (i % step > 0 ? [] : lines).flatMap((head) =>
          ['GET', 'POST'].map((method) =>
            expand(`${method} ${target} HTTP/1.1\r\n${head}Connection: close\r\n\r\n`, {
              ...bench.values,
              row: `${i}`,
            }),
          ),
        ),
      );
      await repeat(
        bytes.length,
        parallel,
        async (i) => void (await exchangeRaw(bench.gateway.port, bytes[i]!)),
      );
      const reached = await judgeRecord(t, bench, 0);
      t.comment(`${bytes.length} requests, ${reached} reached a handler`);
    });

  await t.test('the path corpus, where the more specific route is strict', async (t) => {
    const bench = await startUpstreamBench(t, kind);
    await sendRows(bench, retargeted(readCorpus('paths'), /\bstore\b/g, 'strict'));
    await sendRows(bench, retargeted(readCorpus('paths'), /\/api\/store\b/g, '/api/open/strict'));
    await judgeRecord(t, bench, 0);
  });

  for (const oddNames of ['drop', 'pass']) {
    await t.test(`the spoof corpus; odd names: ${oddNames}`, async (t) => {
      const bench = await startUpstreamBench(t, kind, { headers: { odd_names: oddNames } });
      const rows = readCorpus('spoofs');
      const callers = {
        key: { path: '/api/store/x', caller: '{{good}}' },
        session: {
          path: '/api/store/x',
          caller: 'Host: {{host}}\r\nAuthorization: Bearer {{bearer}}\r\nX-Row: {{row}}\r\n',
        },
        nobody: { path: '/api/open/x', caller: '{{nobody}}' },
      };
      for (const caller of Object.values(callers))
        for (const header of kind.isSlow ? identityHeaders.slice(0, 1) : identityHeaders)
          await sendRows(bench, rows, { ...spellingsOf(header), ...caller });
      await judgeRecord(t, bench, 0);
    });

    await t.test(`headers that servers take for something else; odd names: ${oddNames}`, async (t) => {
      const bench = await startUpstreamBench(t, kind, { headers: { odd_names: oddNames } });
      for (const name of kind.isSlow ? misleadingHeaders.slice(0, 2) : misleadingHeaders)
        await sendRows(bench, readCorpus('upstream-headers'), spellingsOf(name));
      await judgeRecord(t, bench, 0);
    });
  }

  await t.test('the framing corpus, smuggling requests to a strict handler', async (t) => {
    const bench = await startUpstreamBench(t, kind);
    await sendRows(bench, readCorpus('framing'));
    await sendRows(bench, retargeted(readCorpus('framing'), /\/api\/store\b/g, '/api/open'));
    await judgeRecord(t, bench, 0);
  });

  await t.test('requests to a strict handler in unread bodies', async (t) => {
    const bench = await startUpstreamBench(t, kind);
    await sendRows(bench, unreadBodies(expand('{{smuggled}}', bench.values)));
    await judgeRecord(t, bench, 0);
  });

  await t.test('the corpus of known differences between servers', async (t) => {
    const bench = await startUpstreamBench(t, kind);
    await sendRows(bench, readCorpus('upstreams'));
    await judgeRecord(t, bench, 0);
  });
}

/** The rows, with text in their request lines replaced. */
function retargeted(rows: readonly CorpusRow[], from: RegExp, to: string): CorpusRow[] {
  return rows.map((row) => {
    const pieces = typeof row.send === 'string' ? [row.send] : row.send;
    const [first = '', ...rest] = pieces;
    const end = first.indexOf('\r\n');
    const cut = end < 0 ? first.length : end;
    return { ...row, send: [first.slice(0, cut).replace(from, to) + first.slice(cut), ...rest] };
  });
}

/** Every method with every kind of body, which is itself a complete request. */
function unreadBodies(inner: string): CorpusRow[] {
  const methods = ['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'QUERY', 'PATCH', 'PROPFIND'];
  return methods.flatMap((method) => {
    const head = `${method} /api/open/unread HTTP/1.1\r\n{{nobody}}`;
    const length = (body: string) => `Content-Length: ${body.length}\r\n\r\n${body}`;
    const large = inner.repeat(3_000);
    const kinds = {
      'a length': length(inner),
      chunks: `Transfer-Encoding: chunked\r\n\r\n${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`,
      'an expectation': `Expect: 100-continue\r\n${length(inner)}`,
      'a large body': length(large),
    };
    return Object.entries(kinds).map(([name, rest]) => ({
      name: `${method} with ${name}`,
      send: head + rest,
      expect: 'forwarded' as const,
    }));
  });
}
