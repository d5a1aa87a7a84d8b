import type { Test } from 'tap';
import { connectRaw, type RawConnection, type RawResponse } from '../clients/raw-client.ts';
import { type CorpusRow, type Expectation, expand, expectationOf, piecesOf } from './corpus.ts';
import type { CorpusBench } from './corpus-bench.ts';
import { sentConnection } from './engine-differences.ts';
import { assertOurHeaders } from './our-headers.ts';
import { RowChecks } from './row-checks.ts';

/** A row that takes longer has not been answered; a busy machine has more time. */
const waitLimitMs = process.env.POSTERN_TEST_LONG === undefined ? 60_000 : 6_000;
const after = 'GET /api/store/after HTTP/1.1\r\n{{good}}Connection: close\r\n\r\n';

/** How a row is sent beside its own pieces. */
export interface Sending {
  /** Further placeholders. */
  readonly values?: Readonly<Record<string, string>>;
  /** Cuts what is sent into that many pieces at the most, none shorter than a few bytes. */
  readonly pieces?: number;
}

/**
 * Sends a row and judges it by what the upstream recorded, by the responses and by the end of the connection; then a good
 * request must be answered by the same process: on the same connection if that is to stay open, else on a new one.
 */
export async function judge(
  t: Test,
  bench: CorpusBench,
  row: CorpusRow,
  sending: Sending = {},
): Promise<void> {
  const { gateway, upstream } = bench;
  const checks = new RowChecks(t);
  const values = { ...bench.values, ...sending.values };
  const pieces = piecesOf(row, values);
  const bytes = pieces.join('');
  const wanted = expectationOf(row, bytes);
  const before = upstream.seen.length;
  const sent = sending.pieces === undefined ? pieces : cut(bytes, sending.pieces);
  const { responses, end } = await converse(gateway.port, sent, wanted, expand(after, values));
  const seen = upstream.seen.slice(before);

  checks.same(
    responses.map((response) => response.status),
    [...wanted.responses, 200],
    'it is answered as it should, and then a good request is',
  );
  // Cut up, some of it may still be under way when the connection closes.
  const ends = sending.pieces === undefined ? ['ended'] : ['ended', 'reset'];
  checks.ok(ends.includes(end), `the connection is closed in time and no answer is lost to a reset: ${end}`);
  for (const response of responses) if (response.status >= 400) assertRefusal(checks, response, row);
  checks.same(
    seen.map(({ method, target }) => `${method} ${target}`),
    [...wanted.seen.map((line) => expand(line, values)), 'GET /api/store/after'],
    'the upstream saw what it should and nothing else',
  );
  for (const request of seen.slice(0, -1)) assertOurHeaders(checks, bench, request, row, responses);
  const [first] = seen;
  if (row.body !== undefined)
    checks.same(first?.body.toString('latin1'), expand(row.body, values), 'the body is as it was sent');
  for (const [name, texts] of Object.entries(row.has ?? {})) {
    const expanded = texts.map((text) => expand(text, values));
    checks.same(first?.values(name), name === 'connection' ? sentConnection() : expanded, name);
  }
  checks.same(gateway.pid, bench.pid, 'it is the same process');
  checks.end();
}

/** Sends the pieces, then the good request; all responses, and how the connection of the pieces ended. */
async function converse(port: number, pieces: readonly string[], wanted: Expectation, good: string) {
  const connection = await connectRaw(port);
  await send(connection, pieces);
  const responses: RawResponse[] = [];
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    connection.reset();
  }, waitLimitMs);
  if (wanted.open) {
    await readResponses(connection, responses, wanted.responses.length);
    if (sameStatuses(responses, wanted.responses)) connection.write(good);
    else connection.reset();
  }
  const closed = await connection.closed;
  clearTimeout(late);
  await readResponses(connection, responses);
  if (!wanted.open) responses.push(await askOnNewConnection(port, good));
  return { responses, end: isLate ? 'late' : closed };
}

function sameStatuses(responses: readonly RawResponse[], wanted: readonly number[]): boolean {
  return responses.length === wanted.length && responses.every(({ status }, i) => status === wanted[i]);
}

/** A few pieces are sent one by one; many only in turns, so that some arrive together. */
const fewPieces = 3;

async function send(connection: RawConnection, pieces: readonly string[]): Promise<void> {
  let isClosed = false;
  void connection.closed.then(() => {
    isClosed = true;
  });
  const pause = pieces.length > fewPieces ? setImmediate : (resume: () => void) => setTimeout(resume, 20);
  for (const [i, piece] of pieces.entries()) {
    if (i > 0) await new Promise<void>((resolve) => pause(resolve));
    if (isClosed) return;
    connection.write(piece);
  }
}

function cut(text: string, count: number): string[] {
  const size = Math.max(3, Math.ceil(text.length / count));
  return Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
    text.slice(i * size, (i + 1) * size),
  );
}

async function readResponses(
  connection: RawConnection,
  into: RawResponse[],
  count = Infinity,
): Promise<void> {
  while (into.length < count) {
    const response = await connection.response().catch(() => undefined);
    if (response === undefined) return;
    into.push(response);
  }
}

async function askOnNewConnection(port: number, bytes: string): Promise<RawResponse> {
  const connection = await connectRaw(port);
  connection.write(bytes);
  const response = await connection.response();
  connection.reset();
  return response;
}

function assertRefusal(checks: RowChecks, { json, values }: RawResponse, row: CorpusRow): void {
  checks.same(
    [typeof json?.detail, row.code === undefined ? typeof json?.code : json?.code, typeof json?.request_id],
    ['string', row.code ?? 'string', 'string'],
    'a refusal has its detail, code and request id',
  );
  checks.same(values('x-request-id'), [json?.request_id], 'the header has the same request id');
}
