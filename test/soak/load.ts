import { argv, stdout } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../support/corpora/random.ts';
import { bytesOf, Connections, type Exchanged } from './connections.ts';
import { abandon, holdWebSocket, readEvents } from './streams.ts';

// The clients of the soak: `node test/soak/load.ts OPTIONS`, as JSON; prints what came of it as one line of JSON.

/** What the load is told. */
export interface LoadOptions {
  readonly port: number;
  /** Requests a second. */
  readonly rate: number;
  readonly seconds: number;
  readonly username: string;
  readonly password: string;
  readonly keys: readonly string[];
  readonly sessions: number;
}

/** What came of it. */
export interface LoadResult {
  readonly sent: number;
  /** Requests that were due while too many were on their way. */
  readonly skipped: number;
  readonly counts: Readonly<Record<string, number>>;
  /** What was not expected, the first of it. */
  readonly unexpected: readonly string[];
  readonly unexpectedCount: number;
}

interface Session {
  token: string;
  cookie: string;
  isBusy: boolean;
}

const tickMs = 5;
/** Far more than a gateway that keeps up ever has. */
const mostBusy = 400;
const upload = 'x'.repeat(20_000);

async function run(options: LoadOptions): Promise<LoadResult> {
  const { port, rate, seconds, keys } = options;
  const connections = new Connections(port);
  let startedMs = performance.now();
  const random = createRandom(port);
  const counts: Record<string, number> = {};
  const unexpected: string[] = [];
  let unexpectedCount = 0;
  let streams = 0;

  const note = (kind: string, result: string | number, expected: readonly (string | number)[]) => {
    const key = `${kind} ${result}`;
    counts[key] = (counts[key] ?? 0) + 1;
    if (expected.includes(result)) return;
    unexpectedCount++;
    const second = Math.round((performance.now() - startedMs) / 1_000);
    if (unexpected.length < 20) unexpected.push(`${key} at ${second} s`);
  };
  const ask = async (kind: string, bytes: string, expected: number): Promise<Exchanged> => {
    const exchanged = await connections.exchange(bytes);
    const isExpected = exchanged.status === expected;
    const code = /"code":"([a-z_]+)"/.exec(exchanged.body)?.[1] ?? exchanged.body.slice(0, 120);
    note(kind, isExpected ? expected : `${exchanged.status} ${code}`, [expected]);
    return exchanged;
  };
  const form = String(new URLSearchParams({ username: options.username, password: options.password }));
  const formType = 'Content-Type: application/x-www-form-urlencoded';
  const signIn = async (): Promise<Session> => {
    const bytes = bytesOf('POST /api/login/access-token', [formType], form);
    const { head, body } = await ask('sign-in', bytes, 200);
    return { token: tokenOf(body), cookie: cookieOf(head), isBusy: false };
  };
  const sessions: Session[] = [];
  while (sessions.length < options.sessions) sessions.push(await signIn());
  // Nothing ends these: what streams by them must reach its end.
  const steady = [await signIn(), await signIn()];

  const key = () => `X-API-Key: ${random.pick(keys)}`;
  const bearer = (session = random.pick(sessions)) => `Authorization: Bearer ${session.token}`;
  const stream = async (kind: string, streaming: Promise<string>, expected: string) => {
    streams++;
    note(kind, await streaming, [expected]);
    streams--;
  };
  const refresh = async (session: Session) => {
    if (session.isBusy || session.cookie === '') return;
    session.isBusy = true;
    const { status, head, body } = await ask(
      'refresh',
      bytesOf('POST /api/login/refresh-token', [`Cookie: ${session.cookie}`]),
      200,
    );
    if (status === 200) {
      session.cookie = cookieOf(head) || session.cookie;
      session.token = tokenOf(body);
    }
    session.isBusy = false;
  };
  /** Someone signs in anew, and out of the old session once nothing is on its way under it. */
  const replace = async () => {
    const place = random.below(sessions.length);
    const former = sessions[place]!;
    if (former.isBusy) return;
    former.isBusy = true;
    const session = await signIn();
    // It was counted, and must not make every request by this place another one.
    if (session.token === '') {
      former.isBusy = false;
      return;
    }
    sessions[place] = session;
    await sleep(2_000);
    await ask('sign-out', bytesOf('GET /api/logout', [`Authorization: Bearer ${former.token}`]), 200);
  };
  const mint = async () => {
    const json = JSON.stringify({ label: 'soak', scopes: ['store:read'] });
    const asking = [bearer(random.pick(steady)), 'Content-Type: application/json'];
    const { status, body } = await ask('mint', bytesOf('POST /api/admin/api-keys/', asking, json), 201);
    if (status !== 201) return;
    const { id } = JSON.parse(body);
    await ask('delete', bytesOf(`DELETE /api/admin/api-keys/${id}`, [bearer(random.pick(steady))]), 204);
  };

  const badKey = `X-API-Key: pst_${'0'.repeat(36)}`;
  const kinds: readonly (readonly [number, () => unknown])[] = [
    [560, () => ask('key', bytesOf(`GET /api/store/k?x=${random.below(1e9)}`, [key()]), 200)],
    [330, () => ask('bearer', bytesOf('GET /api/store/b', [bearer()]), 200)],
    [30, () => refresh(random.pick(sessions))],
    [30, () => ask('upload', bytesOf('POST /api/store/upload', [key()], upload), 200)],
    [20, () => ask('bad key', bytesOf('GET /api/store/x', [badKey]), 401)],
    [8, () => ask('unknown path', bytesOf(`GET /nowhere/${random.below(1e9)}`), 404)],
    [4, () => ask('two credentials', bytesOf('GET /api/store/x', [key(), bearer()]), 400)],
    [2, replace],
    [2, mint],
    [1, () => ask('list', bytesOf('GET /api/admin/api-keys/', [bearer(random.pick(steady))]), 200)],
    [2, () => stream('event stream', readEvents(port, key()), '200')],
    [2, () => stream('WebSocket', holdWebSocket(port, bearer(random.pick(steady))), '101')],
    [4, () => stream('abandoned', abandon(port, key(), random.oneIn(2)), 'abandoned')],
  ];
  const total = kinds.reduce((sum, [weight]) => sum + weight, 0);
  const choose = () => {
    let at = random.below(total);
    return kinds.find(([weight]) => {
      at -= weight;
      return at < 0;
    })![1];
  };

  let sent = 0;
  let skipped = 0;
  startedMs = performance.now();
  const keepSteady = setInterval(() => void Promise.all(steady.map(refresh)), 20_000);
  for (let elapsedMs = 0; elapsedMs < seconds * 1_000; elapsedMs = performance.now() - startedMs) {
    const due = Math.floor((elapsedMs / 1_000) * rate);
    for (; sent + skipped < due; ) {
      if (connections.busy > mostBusy) skipped++;
      else {
        sent++;
        void choose()();
      }
    }
    await sleep(tickMs);
  }
  clearInterval(keepSteady);
  const deadline = performance.now() + 10_000;
  while ((connections.busy > 0 || streams > 0) && performance.now() < deadline) await sleep(50);
  return { sent, skipped, counts, unexpected, unexpectedCount };
}

function tokenOf(body: string): string {
  return /"access_token":"([^"]+)"/.exec(body)?.[1] ?? '';
}

function cookieOf(head: string): string {
  return /\r\nset-cookie: ([^;\r]+)/i.exec(head)?.[1] ?? '';
}

const result = await run(JSON.parse(argv[2]!));
stdout.write(JSON.stringify(result), () => process.exit(0));
