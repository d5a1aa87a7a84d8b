import { connect } from 'node:net';
import t from 'tap';
import { type Alarm, assertNoNewAlarm, newAlarms } from '../support/corpora/alarms.ts';
import { type FuzzedPipeline, fuzzedPipeline } from '../support/corpora/fuzzed-requests.ts';
import { createRandom } from '../support/corpora/random.ts';
import {
  alarmsOfHead,
  alarmsOfResponses,
  firstUnread,
  inShort,
  requestAlarm,
} from '../support/corpora/request-alarms.ts';
import { isLong, repeat, startGatewayUnderLoad } from '../support/gateway/gateway-under-load.ts';
import { startReadingServer } from '../support/servers/fuzz-servers.ts';
import { knownRequestAlarms } from './known-alarms.ts';

const cases = Number(process.env.POSTERN_TEST_FUZZ_CASES ?? (isLong ? 50_000 : 400));
/** Another seed, another run: what it finds is found again by it. */
const seed = Number(process.env.POSTERN_TEST_FUZZ_SEED ?? 1);
const parallel = 24;
/** Changed framing may make the server wait for more: then nothing more is received. */
const silenceMs = 500;

t.setTimeout(isLong ? 3_600_000 : 120_000);

/** Every case has its own client address, by which the upstream knows whose request it reads. */
const addressOf = (index: number) => `127.${1 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`;

/** Sends the bytes in two pieces and returns everything received, as latin1. */
function converse(port: number, localAddress: string, { bytes, cut }: FuzzedPipeline): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    let isSilent = true;
    // What arrived while this process was busy is read first.
    const giveUp = () => {
      isSilent = true;
      setImmediate(() => setImmediate(() => (isSilent ? socket.destroy() : silence.refresh())));
    };
    const silence = setTimeout(giveUp, silenceMs);
    socket.setEncoding('latin1');
    socket.on('data', (text) => {
      received += text;
      isSilent = false;
      silence.refresh();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(silence);
      resolve(received);
    });
    socket.write(bytes.subarray(0, cut), () => {
      if (!socket.destroyed) socket.write(bytes.subarray(cut));
    });
  });
}

t.test(`${cases} changed pipelines: what is forwarded is what a strict reader reads`, async (t) => {
  const lenient = await startReadingServer(t, true, ({ rawHeaders }) => {
    const at = rawHeaders.findIndex((name) => name.toLowerCase() === 'x-forwarded-for');
    return rawHeaders[at + 1] ?? '';
  });
  const strict = await startReadingServer(t, false, ({ socket }) => socket.remoteAddress!);
  const gateway = await startGatewayUnderLoad(t, {
    upstreams: { app: { url: `http://127.0.0.1:${lenient.port}`, response_timeout: '5s' } },
    limits: { header_count: 60 },
    log: { level: 'warn' },
  });
  const identity = await identityOf(gateway, lenient);
  const received = new Map<string, string>();
  const pipelineOf = (index: number) => fuzzedPipeline(createRandom(seed, index), `c${index}`, gateway.key);

  async function run(index: number, address: string): Promise<void> {
    const pipeline = pipelineOf(index);
    const [responses] = await Promise.all([
      converse(gateway.port, address, pipeline),
      converse(strict.port, address, pipeline),
    ]);
    received.set(address, responses);
  }

  function judge(index: number, address: string): Alarm[] {
    const { bytes } = pipelineOf(index);
    const upstream = lenient.requestsOf(address);
    const reference = strict.requestsOf(address);
    const responses = received.get(address)!;
    const alarms = alarmsOfResponses(responses, upstream).map((kind) => requestAlarm(kind, bytes, responses));
    for (const request of upstream)
      for (const kind of alarmsOfHead(request, address, identity))
        alarms.push(requestAlarm(kind, bytes, request.rawHeaders));
    const unread = firstUnread(upstream, reference);
    if (unread === undefined) return alarms;
    const error = strict.errors.get(address)?.split(' ', 1)[0];
    const all = [inShort(unread.seen), ...reference.map(inShort), error];
    return [...alarms, requestAlarm(unread.kind, bytes, all)];
  }

  await repeat(cases, parallel, (index) => run(index, addressOf(index)));
  const alarms: Alarm[] = [];
  const tally = { forwarded: 0, refused: 0, silent: 0, again: 0 };
  for (let index = 0; index < cases; index++) {
    const address = addressOf(index);
    const wasForwarded = lenient.requestsOf(address).length > 0;
    tally[wasForwarded ? 'forwarded' : received.get(address) === '' ? 'silent' : 'refused']++;
    const found = judge(index, address);
    if (newAlarms(found, knownRequestAlarms).length === 0) alarms.push(...found);
    else {
      // Again on its own, without other load.
      const again = addressOf(cases + tally.again++);
      await run(index, again);
      alarms.push(...judge(index, again));
    }
  }
  for (const detail of lenient.errors.values()) alarms.push({ kind: 'the upstream can’t read it', detail });
  for (const sender of lenient.senders.keys())
    if (!received.has(sender) && sender !== '127.0.0.1')
      alarms.push({ kind: 'a sender that is none', detail: sender });
  t.comment(JSON.stringify({ seed, ...tally }));
  t.ok(tally.forwarded > cases / 4 && tally.refused > cases / 10, 'cases were forwarded and refused');
  assertNoNewAlarm(t, alarms, knownRequestAlarms);
});

/** The identity headers of the key's owner. */
async function identityOf(
  gateway: Awaited<ReturnType<typeof startGatewayUnderLoad>>,
  upstream: Awaited<ReturnType<typeof startReadingServer>>,
): Promise<Record<string, string>> {
  await gateway.api.send({ path: '/api/store/who', apiKey: gateway.key });
  const { rawHeaders } = upstream.requestsOf('127.0.0.1')[0]!;
  const told = rawHeaders.flatMap((name, i) =>
    i % 2 === 0 && /^x-auth-/i.test(name) ? [[name.toLowerCase(), rawHeaders[i + 1]!]] : [],
  );
  return Object.fromEntries(told);
}
