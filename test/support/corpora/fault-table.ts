import type { Test } from 'tap';
import { connectRaw, exchangeRaw, type RawResponse } from '../clients/raw-client.ts';
import { type Forwarding, startForwarding } from '../gateway/forwarding.ts';
import { poolBecomes } from '../gateway/pool-gauges.ts';
import { type FaultyUpstream, startFaultyUpstream } from '../servers/faulty-upstream.ts';
import { expected } from './engine-differences.ts';

/** What the client must see: a refusal, a truncated response, or the complete text. */
export type Expected = 502 | 504 | 'reset' | { readonly whole: string };

/** One fault of an upstream. */
export interface FaultRow {
  /** What the upstream does when it is connected to, or has read the request: see {@link FaultyUpstream.fault}. */
  readonly fault: FaultyUpstream['fault'];
  readonly expected: Expected;
  /** Default GET and POST. */
  readonly methods?: readonly string[];
  /** A used connection dies before the first byte of a response: requests that may be retried are. */
  readonly isRetried?: boolean;
  /** It sends more than the response: the connection must not be reused. */
  readonly isTainted?: boolean;
}

type Tap = Test;

/** Timeouts of an upstream, where a row waits for one. Others have the defaults: a busy machine may take what it needs. */
export type Timeouts = Readonly<Partial<Record<'response_timeout' | 'idle_timeout', string>>>;

/** Short enough to wait for, long enough for a busy machine. */
export const shortResponse: Timeouts = { response_timeout: '600ms' };
export const shortIdle: Timeouts = { idle_timeout: '300ms' };

const codes = { 502: 'upstream_unavailable', 504: 'upstream_timeout' } as const;

/**
 * Checks every row over a single connection to the upstream, new and used, so that a connection or a slot in the pool
 * that is lost in one row fails the next.
 */
export async function judgeFaults(
  t: Tap,
  rows: Readonly<Record<string, FaultRow>>,
  given: Timeouts = {},
): Promise<void> {
  const upstream = await startFaultyUpstream(t);
  // The other engine may notice only by a timeout.
  const isLate = Object.entries(rows).some(([name, row]) => expected(name, row).expected === 504);
  const timeouts = { ...(isLate && shortResponse), ...given };
  const app = { url: upstream.url, max_connections: 1, max_waiting: 1, ...timeouts };
  const gateway = await startForwarding(t, { upstreams: { app } });
  for (const [name, builtIn] of Object.entries(rows))
    await t.test(name, async (t) => {
      const row = expected(name, builtIn);
      for (const method of row.methods ?? ['GET', 'POST'])
        for (const before of ['last', 'good']) await judge(t, { gateway, upstream }, row, method, before);
      if (row.expected === 'reset') {
        const { closed } = await ask({ gateway, upstream }, row, 'GET', '1.0');
        t.equal(closed, 'reset', 'a reset is not taken for the end of a body that ends with its connection');
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
    t.notOk(said.includes(secret), 'nothing about the upstream is revealed');
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
  wanted: Expected,
  response: RawResponse | undefined,
  closed: string,
): void {
  if (wanted === 'reset') {
    t.equal(closed, 'reset', what);
    t.notOk(response?.isWhole, `${what}: the response does not look complete`);
  } else if (typeof wanted === 'number') {
    t.equal(response?.status, wanted, what);
    t.equal(response?.json?.code, codes[wanted], what);
    t.equal(closed, 'ended', what);
  } else {
    t.equal(response?.text, wanted.whole, what);
    t.ok(response?.isWhole, what);
  }
}

/** A valid request is served, and the pool is as it was. */
async function judgeAfter(t: Tap, { gateway, upstream }: Stage): Promise<void> {
  t.ok(await gateway.stillServes(), 'a valid request is served afterwards');
  await poolBecomes(gateway.managementPort, ({ open, waiting }) => open === upstream.open && waiting === 0);
}
