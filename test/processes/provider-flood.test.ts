import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { Agent, request } from 'undici';
import { encode, es256, claims as exampleClaims, jwkOf } from '../support/corpora/forged-assertions.ts';
import { administrator } from '../support/gateway/gateway.ts';
import { isLong, startGatewayUnderLoad } from '../support/gateway/gateway-under-load.ts';
import { publish, type StubProvider, startStubProvider } from '../support/servers/stub-provider.ts';

const perSecond = isLong ? 1_000 : 100;
const seconds = isLong ? 65 : 1;
const fetchPauseMs = 30_000;
/** How long a call to the provider waits. */
const callTimeoutMs = 5_000;
/** Between two ordinary requests: each sign-in's secrets are looked for in the whole log at the end. */
const ordinaryPauseMs = isLong ? 100 : 10;

async function setUp(t: Test) {
  const stub = await startStubProvider(t);
  publish(stub, [jwkOf(es256)]);
  const idp = { issuer: stub.origin, client_id: 'postern', redirect_uri: 'https://acme.example.com/in' };
  const gateway = await startGatewayUnderLoad(t, { identity_providers: { idp } });
  const agent = new Agent();
  t.teardown(() => agent.destroy());
  const address = `http://127.0.0.1:${gateway.port}/api/login/idp/exchange`;
  const iat = Math.floor(Date.now() / 1000);
  const payload = encode(JSON.stringify({ ...exampleClaims, iss: stub.origin, iat, exp: iat + 300 }));
  let sent = 0;

  /** An assertion under a key that nobody has; its status. */
  async function exchange(): Promise<number> {
    const named = encode(JSON.stringify({ alg: 'ES256', kid: `unknown-${sent++}` }));
    const body = `assertion=${named}.${payload}.${encode(Buffer.alloc(64))}`;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const response = await request(address, { dispatcher: agent, method: 'POST', headers, body });
    await response.body.dump();
    return response.statusCode;
  }

  /** So many a second, whether or not they are answered; how many there were of each status. */
  async function flood(forSeconds: number): Promise<Record<string, number>> {
    const responses: Promise<number>[] = [];
    const start = performance.now();
    while (responses.length < perSecond * forSeconds) {
      const due = Math.min(perSecond * forSeconds, ((performance.now() - start) / 1000) * perSecond);
      while (responses.length < due) responses.push(exchange());
      await sleep(5);
    }
    const counts: Record<string, number> = {};
    for (const status of await Promise.all(responses)) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  }

  return { stub, gateway, flood, exchange };
}

type Stage = Awaited<ReturnType<typeof setUp>>;

/** Goes on signing in, calling and refreshing until `until` resolves; durations in ms, sorted. Other answers than 200 throw. */
async function ordinaryTraffic({ gateway }: Stage, until: Promise<unknown>): Promise<number[]> {
  const { username, password } = administrator;
  const { cookie } = await gateway.api.signIn(username, password);
  const kinds = [
    () => gateway.api.signIn(username, password).then(({ response }) => response),
    () => gateway.api.send({ path: '/api/store/x', apiKey: gateway.key }),
    () => gateway.api.refresh(cookie),
  ];
  let isOver = false;
  void until.finally(() => {
    isOver = true;
  });
  const durations: number[] = [];
  const goOn = async (send: (typeof kinds)[number]) => {
    while (!isOver) {
      const before = performance.now();
      const { status, text } = await send();
      if (status !== 200) throw new Error(`${status} ${text}`);
      durations.push(performance.now() - before);
      await sleep(ordinaryPauseMs);
    }
  };
  await Promise.all(kinds.map(goOn));
  return durations.sort((a, b) => a - b);
}

async function judge(t: Test, stage: Stage, forSeconds: number): Promise<void> {
  const { stub } = stage;
  const before = countOf(stub);
  const sinceMs = performance.now();
  const flooding = stage.flood(forSeconds);
  const durations = await ordinaryTraffic(stage, flooding);
  t.strictSame(await flooding, { 401: perSecond * forSeconds });
  const fetches = countOf(stub) - before;
  const maxFetches = 1 + Math.floor((performance.now() - sinceMs) / fetchPauseMs);
  t.ok(fetches <= maxFetches, `${fetches} fetches`);
  const at = (share: number) => Math.round(durations[Math.floor(durations.length * share)]!);
  t.comment(`${durations.length} other requests: median ${at(0.5)} ms, 95 % ${at(0.95)} ms`);
  t.ok(durations.length >= (isLong ? 15 * forSeconds : 3), 'everything else goes on');
  if (isLong) t.ok(at(0.95) < 500, 'in good time');
}

function countOf(stub: StubProvider): number {
  return stub.count('/jwks') + stub.count('/.well-known/openid-configuration');
}

t.test('a flood of assertions with unknown keys makes one fetch in 30 s', async (t) => {
  const stage = await setUp(t);
  t.equal(await stage.exchange(), 401, 'it has the keys');
  await judge(t, stage, seconds);
});

t.test('as many while the provider says nothing: one call waits, and nobody waits for long', async (t) => {
  const stage = await setUp(t);
  stage.stub.responses.set('/jwks', () => {});
  const sinceMs = performance.now();
  const flooding = stage.flood(1);
  const durations = await ordinaryTraffic(stage, flooding);
  t.strictSame(await flooding, { 503: perSecond });
  const calls = stage.stub.count('/jwks');
  const maxCalls = 1 + Math.floor((performance.now() - sinceMs) / callTimeoutMs);
  t.ok(calls >= 1 && calls <= maxCalls, `${calls} calls, one at a time`);
  const slowest = `the slowest other request took ${Math.round(durations.at(-1)!)} ms`;
  if (isLong) t.ok(durations.at(-1)! < 2_000, slowest);
  else t.comment(slowest);
});
