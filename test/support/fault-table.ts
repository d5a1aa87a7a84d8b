import type { Test } from 'tap';
import { type FaultyUpstream, startFaultyUpstream } from './faulty-upstream.ts';
import { type Forwarding, startForwarding } from './forwarding.ts';
import { poolBecomes } from './pool-gauges.ts';
import { connectRaw, exchangeRaw, type RawResponse } from './raw-client.ts';

/** What a client is to see: that refusal, a response that breaks off, or that text, whole. */
export type Expected = 502 | 504 | 'reset' | { readonly whole: string };

/** One fault of an upstream. */
export interface FaultRow {
  /** What the upstream does once it has read the request, or was connected to: see {@link FaultyUpstream.fault}. */
  readonly fault: FaultyUpstream['fault'];
  readonly expected: Expected;
  /** Default GET and POST. */
  readonly methods?: readonly string[];
  /** A used connection dies of it before the first byte of a response: what may be asked again is. */
  readonly isRetried?: boolean;
  /** It says more than it was asked for: the connection is not to be used again. */
  readonly isTainted?: boolean;
}

type Tap = Test;

/** Short enough to wait for, long enough for a machine that has other work. */
export const shortTimeouts = { connect_timeout: '300ms', response_timeout: '300ms', idle_timeout: '300ms' };

const codes = { 502: 'upstream_unavailable', 504: 'upstream_timeout' } as const;

/**
 * Judges every row over one connection to the upstream, new and used before, so that a connection or a place that is
 * lost in one row fails it.
 */
export async function judgeFaults(t: Tap, rows: Readonly<Record<string, FaultRow>>): Promise<void> {
  const upstream = await startFaultyUpstream(t);
  const app = { url: upstream.url, max_connections: 1, max_waiting: 1, ...shortTimeouts };
  const gateway = await startForwarding(t, { upstreams: { app } });
  for (const [name, row] of Object.entries(rows))
    await t.test(name, async (t) => {
      for (const method of row.methods ?? ['GET', 'POST'])
        for (const before of ['last', 'good']) await judge(t, { gateway, upstream }, row, method, before);
      if (row.expected === 'reset') {
        const { closed } = await ask({ gateway, upstream }, row, 'GET', '1.0');
        t.equal(closed, 'reset', 'where the end of the connection would end the body, it is no end');
        await judgeAfter(t, { gateway, upstream });
      }
    });
}

interface Stage {
  readonly gateway: Forwarding;
  readonly upstream: FaultyUpstream;
}

async function judge(t: Tap, stage: Stage, row: FaultRow, method: string, before: string): Promise<void> {
  const { gateway, upstream } = stage;
  await exchangeRaw(gateway.port, gateway.raw(`GET /api/store/${before} HTTP/1.1`, ['Connection: close']));
  const { responses, closed, asked } = await ask(stage, row, method, '1.1');
  const what = `${method} on a connection that is ${before === 'last' ? 'new' : 'used'}`;
  judgeResponse(t, what, row.expected, responses.at(-1), closed);
  const again = row.isRetried === true && before === 'good' && method === 'GET';
  t.ok(asked <= (again ? 2 : 1), `${what} was sent ${asked} times`);
  const said = responses.map(({ rawHeaders, text }) => rawHeaders.join('\n') + text).join('\n');
  for (const secret of [String(upstream.port), '127.0.0.1', 'ECONN'])
    t.notOk(said.includes(secret), 'what the upstream is stays inside');
  if (row.isTainted === true) await poolBecomes(gateway.managementPort, ({ open }) => open === 0);
  await judgeAfter(t, stage);
}

async function ask({ gateway, upstream }: Stage, row: FaultRow, method: string, version: string) {
  const asked = upstream.faults;
  upstream.fault = row.fault;
  const body = method === 'POST' ? 'hello' : '';
  const lines = method === 'POST' ? ['Connection: close', 'Content-Length: 5'] : ['Connection: close'];
  const sent = gateway.raw(`${method} /api/store/fault HTTP/${version}`, lines, body);
  const connection = await connectRaw(gateway.port);
  connection.write(sent);
  const closed = await connection.closed;
  const responses: RawResponse[] = [];
  const next = () => connection.response({ toHead: method === 'HEAD' }).catch(() => undefined);
  for (let response = await next(); response !== undefined; response = await next()) responses.push(response);
  upstream.fault = null;
  return { responses, closed, asked: upstream.faults - asked };
}

function judgeResponse(
  t: Tap,
  what: string,
  expected: Expected,
  response: RawResponse | undefined,
  closed: string,
): void {
  if (expected === 'reset') {
    t.equal(closed, 'reset', what);
    t.notOk(response?.isWhole, `${what}: the answer does not look whole`);
  } else if (typeof expected === 'number') {
    t.equal(response?.status, expected, what);
    t.equal(response?.json?.code, codes[expected], what);
    t.equal(closed, 'ended', what);
  } else {
    t.equal(response?.text, expected.whole, what);
    t.ok(response?.isWhole, what);
  }
}

/** A good request is answered and the pool is as it was. */
async function judgeAfter(t: Tap, { gateway, upstream }: Stage): Promise<void> {
  t.ok(await gateway.stillServes(), 'a good request is answered afterwards');
  await poolBecomes(gateway.managementPort, ({ open, waiting }) => open === upstream.open && waiting === 0);
}
