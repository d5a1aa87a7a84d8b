import type { Test } from 'tap';
import { type CorpusRow, expand, expectationOf, piecesOf } from './corpus.ts';
import type { CorpusBench } from './corpus-bench.ts';
import { assertOurHeaders } from './our-headers.ts';
import { connectRaw, type RawAnswer, type RawConnection } from './raw-client.ts';

/** A row that takes longer has not been answered. */
const patienceMs = 6_000;
const after = 'GET /api/store/after HTTP/1.1\r\n{{good}}Connection: close\r\n\r\n';

/** How a row is sent beside its own pieces. */
export interface Sending {
  /** Further placeholders. */
  readonly values?: Readonly<Record<string, string>>;
  /** Cuts what is sent into that many pieces at the most, none shorter than a few bytes. */
  readonly pieces?: number;
}

/**
 * Sends a row and judges it by what the upstream recorded, by the answers and by the end of the connection; then a good
 * request must be answered by the same process: on the same connection if that is to stay open, else on a new one.
 */
export async function judge(
  t: Test,
  bench: CorpusBench,
  row: CorpusRow,
  { values = {}, pieces: count }: Sending = {},
): Promise<void> {
  const { gateway, upstream } = bench;
  const all = { ...bench.values, ...values };
  const pieces = piecesOf(row, all);
  const wanted = expectationOf(row, pieces.join(''));
  const before = upstream.seen.length;
  const connection = await connectRaw(gateway.port);
  await send(connection, count === undefined ? pieces : cut(pieces.join(''), count));
  const answers: RawAnswer[] = [];
  const late = setTimeout(() => connection.reset(), patienceMs);
  if (wanted.open) {
    await readAnswers(connection, answers, wanted.answers.length);
    if (sameStatuses(answers, wanted.answers)) connection.write(expand(after, all));
    else connection.reset();
  }
  const closed = await connection.closed;
  clearTimeout(late);
  await readAnswers(connection, answers);
  if (!wanted.open) answers.push(await askOnNewConnection(gateway.port, expand(after, all)));

  t.same(
    answers.map((answer) => answer.status),
    [...wanted.answers, 200],
    'it is answered as it should, and then a good request is',
  );
  if (count === undefined) t.equal(closed, 'ended', 'no answer is lost to a reset');
  for (const answer of answers) if (answer.status >= 400) assertRefusal(t, answer, row);
  const seen = upstream.seen.slice(before);
  t.same(
    seen.map(({ method, target }) => `${method} ${target}`),
    [...wanted.seen.map((line) => expand(line, all)), 'GET /api/store/after'],
    'the upstream saw what it should and nothing else',
  );
  seen.pop();
  for (const request of seen) assertOurHeaders(t, bench, request, row, answers);
  if (row.body !== undefined) t.equal(seen[0]?.body.toString('latin1'), expand(row.body, all));
  for (const [name, value] of Object.entries(row.has ?? {}))
    t.same(
      seen[0]?.values(name),
      value.map((text) => expand(text, all)),
      name,
    );
  t.equal(gateway.pid, bench.pid, 'it is the same process');
}

function sameStatuses(answers: readonly RawAnswer[], wanted: readonly number[]): boolean {
  return answers.length === wanted.length && answers.every(({ status }, i) => status === wanted[i]);
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

async function readAnswers(connection: RawConnection, into: RawAnswer[], count = Infinity): Promise<void> {
  while (into.length < count) {
    const answer = await connection.answer().catch(() => undefined);
    if (answer === undefined) return;
    into.push(answer);
  }
}

async function askOnNewConnection(port: number, bytes: string): Promise<RawAnswer> {
  const connection = await connectRaw(port);
  connection.write(bytes);
  const answer = await connection.answer();
  connection.reset();
  return answer;
}

function assertRefusal(t: Test, answer: RawAnswer, row: CorpusRow): void {
  t.match(answer.json, { detail: String, code: row.code ?? String, request_id: String });
  t.same(answer.values('x-request-id'), [answer.json?.request_id]);
}
