import { request } from 'node:http';
import t from 'tap';
import { connectRaw, type RawConnection, type RawResponse } from '../support/clients/raw-client.ts';
import { type Alarm, assertNoNewAlarm, newAlarms } from '../support/corpora/alarms.ts';
import { fuzzedResponse } from '../support/corpora/fuzzed-responses.ts';
import { createRandom } from '../support/corpora/random.ts';
import { isLong, repeat, startGatewayUnderLoad } from '../support/gateway/gateway-under-load.ts';
import { startEvilUpstream } from '../support/servers/evil-upstream.ts';
import { knownResponseAlarms } from './known-alarms.ts';

const cases = Number(process.env.POSTERN_TEST_FUZZ_CASES ?? (isLong ? 50_000 : 400));
/** Another seed, another run: what it finds is found again by it. */
const seed = Number(process.env.POSTERN_TEST_FUZZ_SEED ?? 1);
const parallel = 48;
/** A response that was cut short may leave a reader waiting. */
const waitLimitMs = 400;

t.setTimeout(isLong ? 3_600_000 : 120_000);

/** A complete response, as read. */
interface Read {
  readonly status: number;
  readonly mark: string;
  readonly body: string;
}

const methodOf = (id: number) =>
  createRandom(seed, id, 1).pick(['GET', 'GET', 'GET', 'HEAD', 'DELETE', 'OPTIONS']);

/** What Node's own client reads from the same bytes; the code of its error if that isn't a complete response. */
function readStrictly(port: number, id: number): Promise<Read | string> {
  return new Promise((resolve) => {
    const options = {
      port,
      host: '127.0.0.1',
      path: `/calm/evil/${id}`,
      method: methodOf(id),
      agent: false as const,
    };
    let isWhole = () => false;
    const fail = ({ code }: NodeJS.ErrnoException) => resolve(code ?? 'cut');
    const asked = request({ ...options, insecureHTTPParser: false }, (response) => {
      let body = '';
      isWhole = () => response.complete;

      response.setEncoding('latin1');
      response.on('data', (text) => {
        body += text;
      });
      response.on('error', (error: NodeJS.ErrnoException) => fail(error));
      response.on('end', () => {
        const mark = inOneForm([response.headers['x-mark'] ?? ''].flat().join());
        resolve(response.complete ? { status: response.statusCode!, mark, body } : 'cut');
        asked.destroy();
      });
    });
    // What follows a complete response belongs to no request; errors in it say nothing about that response.
    asked.on('error', (error: NodeJS.ErrnoException) => {
      if (!isWhole()) fail(error);
    });
    // Only for responses to upgrades.
    asked.on('upgrade', (_response, socket) => {
      socket.destroy();
      resolve('upgrade');
    });
    asked.setTimeout(waitLimitMs, () => asked.destroy());
    asked.end();
  });
}

/** The final response, or undefined when the connection ends before its head. */
async function finalResponse(connection: RawConnection, isHead: boolean): Promise<RawResponse | undefined> {
  for (;;) {
    const response = await connection.response({ toHead: isHead }).catch(() => undefined);
    if (response === undefined || response.status >= 200) return response;
  }
}

const isGateways = (response: RawResponse) => /^upstream_/.test(response.json?.code ?? '');
/** Values of one header, however they are joined. */
function inOneForm(values: string): string {
  return values
    .split(',')
    .map((value) => value.trim())
    .join();
}

/** The refresh cookie as browsers read it, also as the value of a cookie without a name. */
const ownCookie = /^\s*=?\s*service_refresh_cookie\s*(?:[=;]|$)/;
const markOf = (response: RawResponse) => inOneForm(response.values('x-mark').join());

t.test(`${cases} changed responses: what a client gets in full is what a strict reader reads`, async (t) => {
  const upstream = await startEvilUpstream(t, (id) => fuzzedResponse(createRandom(seed, id), `evil-${id}`));
  const gateway = await startGatewayUnderLoad(t, {
    upstreams: {
      app: {
        url: `http://127.0.0.1:${upstream.port}`,
        max_connections: 64,
        response_timeout: `${waitLimitMs}ms`,
        idle_timeout: `${waitLimitMs}ms`,
      },
    },
    log: { level: 'warn' },
  });
  const tally = { whole: 0, refused: 0, reset: 0, good: 0, again: 0 };

  /** Asks for the response of that number, then for a good one on the same connection; what is wrong with either. */
  async function run(id: number): Promise<Alarm[]> {
    const method = methodOf(id);
    const { bytes } = fuzzedResponse(createRandom(seed, id), `evil-${id}`);
    const alarms: Alarm[] = [];
    const alarm = (kind: string, ...more: unknown[]) =>
      alarms.push({ kind, detail: [method, bytes.toString('latin1'), ...more].map(json).join(' ') });
    const [reference, connection] = await Promise.all([
      readStrictly(upstream.port, id),
      connectRaw(gateway.port),
    ]);
    const ask = (how: string, kind: string) =>
      connection.write(`${how} /api/open/${kind}/${id} HTTP/1.1\r\nHost: a\r\n\r\n`);
    ask(method, 'evil');
    const response = await finalResponse(connection, method === 'HEAD');
    if (response === undefined || !response.isWhole) tally.reset++;
    else {
      const isOurs =
        response.status >= 500 && (method === 'HEAD' ? markOf(response) === '' : isGateways(response));
      tally[isOurs ? 'refused' : 'whole']++;
      const read: Read = {
        status: response.status,
        mark: markOf(response),
        body: response.body.toString('latin1'),
      };
      if (!isOurs && json(read) !== json(reference))
        alarm('a strict reader reads otherwise', read, reference);
      if (response.values('set-cookie').some((value) => ownCookie.test(value)))
        alarm('an own cookie', response.rawHeaders);
      const ids = response.values('x-request-id');
      if (ids.length !== 1 || /planted/.test(ids[0]!)) alarm('another’s id', response.rawHeaders);
      // The next response on the connection must be the next request's own, whatever preceded it.
      ask('GET', 'good');
      const next = await finalResponse(connection, false);
      if (next?.isWhole === true && !isGateways(next)) {
        if (markOf(next) === `good-${id}` && next.text === `good-${id}`) tally.good++;
        else alarm('another’s response', next.status, next.rawHeaders, next.text);
      }
    }
    connection.reset();
    return alarms;
  }

  const alarms: Alarm[] = [];
  const doubtful: number[] = [];
  await repeat(cases, parallel, async (id) => {
    const found = await run(id);
    if (newAlarms(found, knownResponseAlarms).length > 0) doubtful.push(id);
    else alarms.push(...found);
  });
  // Alone, where nothing is late: an upstream that answers once more when its connection has been handed on can't be
  // told from one that answers at once, by nobody.
  for (const id of doubtful) {
    tally.again++;
    alarms.push(...(await run(id)));
  }
  t.comment(JSON.stringify({ seed, ...tally }));
  t.ok(
    tally.whole > cases / 6 && tally.refused > cases / 10 && tally.good > cases / 4,
    'responses were passed on and refused',
  );
  assertNoNewAlarm(t, alarms, knownResponseAlarms);
});

const json = (value: unknown) => JSON.stringify(value);
