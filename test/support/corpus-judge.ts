import type { Test } from 'tap';
import { type CorpusRow, expectationOf, expand, piecesOf } from './corpus.ts';
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
  /** Cuts what is sent into pieces of that many bytes. */
  readonly pieceBytes?: number;
}

/**
 * Sends a row and judges it by what the upstream recorded, by the answers and by the end of the connection; then a good
 * request must be answered by the same process: on the same connection if that is to stay open, else on a new one.
 */
export async function judge(
  t: Test,
  bench: CorpusBench,
  row: CorpusRow,
  { values = {}, pieceBytes }: Sending = {},
): Promise<void> {
  const { gateway, upstream } = bench;
  const all = { ...bench.values, ...values };
  const pieces = piecesOf(row, all);
  const wanted = expectationOf(row, pieces.join(''));
  const before = upstream.seen.length;
  const connection = await connectRaw(gateway.port);
  await send(connection, pieceBytes === undefined ? pieces : cut(pieces.join(''), pieceBytes));
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
  if (pieceBytes === undefined) t.equal(closed, 'ended', 'no answer is lost to a reset');
  for (const answer of answers) if (answer.status >= 400) assertRefusal(t, answer, row);
  const seen = upstream.seen.slice(before);
  t.same(
    seen.map(({ method, target }) => `${method} ${target}`),
    [...wanted.seen, 'GET /api/store/after'],
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

async function send(connection: RawConnection, pieces: readonly string[]): Promise<void> {
  let isClosed = false;
  connection.closed.then(() => {
    isClosed = true;
  });
  for (const [i, piece] of pieces.entries()) {
    if (isClosed) return;
    if (i > 0) await new Promise((resolve) => setTimeout(resolve, pieces.length > 3 ? 0 : 20));
    connection.write(piece);
  }
}

function cut(text: string, size: number): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += size) pieces.push(text.slice(at, at + size));
  return pieces;
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
