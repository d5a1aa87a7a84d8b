import { execFile as execFileWithCallback } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { temporaryFolder } from '../contract/sqlite-stores.ts';
import { compileClocks, type MovableClock } from '../model/machine/clock.ts';
import { KeyCopy, KeyWatch } from '../support/administration/key-watch.ts';
import type { ApiRequest, ApiResponse } from '../support/clients/api-client.ts';
import { administrator, bootstrapToken } from '../support/gateway/gateway.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { leeway } from '../support/gateway/replicas.ts';
import { cookieNamed, navigation, ownForm, webCookieName } from '../support/pages/web.ts';
import { assertionKeysPath } from '../support/servers/asserting-upstream.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';
import { requireRedis, startRedis } from '../support/stores/redis-server.ts';

/**
 * Keys that are replaced while two gateways on PostgreSQL serve. The shortest times that a configuration may give are
 * minutes: the clocks of the gateways and of the stores go so much faster than the machine's.
 */
const rate = isLong ? 120 : 60;
const rotations = Number(process.env.POSTERN_TEST_ROTATIONS ?? (isLong ? 50 : 3));
const revocations = isLong ? 60 : 3;
const clientCount = isLong ? 32 : 8;

const minute = 60_000;
const rotateEveryMs = 12 * minute;
const publishAheadMs = 10 * minute;
const lifetimeMs = 4 * minute;
/** How long a service may keep its copy of the published keys, ms. */
const copyMs = 5 * minute;
/** What a key is kept for besides the lives of its tokens: a store that is away, and clocks that differ. */
const keptBesidesMs = 30_000 + 60_000;
/** Gateways look four times a second whether something is due, and so do we; on a busy machine less often. */
const lookMs = 250 * rate * 2 * leeway;

const execFile = promisify(execFileWithCallback);
const main = join(import.meta.dirname, '../../src/main.ts');
const { username, password } = administrator;

t.setTimeout(((rotations * rotateEveryMs) / rate) * 3 + 300_000);

/** A clock that goes faster than the machine's. */
class FastClock {
  readonly #clock: MovableClock;
  #offsetMs = 0;

  constructor(t: Test, clock: MovableClock, rate: number) {
    this.#clock = clock;
    // By a fixed step, not by the time that has passed: where this process stands still, the clock does, too.
    const stepMs = 10;
    const timer = setInterval(() => {
      this.#offsetMs += stepMs * (rate - 1);
      this.#clock.set(this.#offsetMs);
    }, stepMs);
    t.teardown(() => clearInterval(timer));
  }

  now(): number {
    return Date.now() + this.#offsetMs;
  }
}

/** What has happened that must not. */
class Failures {
  readonly #texts = new Map<string, number>();

  add(text: string): void {
    this.#texts.set(text, (this.#texts.get(text) ?? 0) + 1);
  }

  get list(): readonly string[] {
    return [...this.#texts].map(([text, times]) => `${text} (${times} times)`);
  }
}

/** Two gateways on one PostgreSQL and one Redis, a service behind them that verifies, and what was counted. */
interface Run {
  readonly gateways: readonly GatewayProcess[];
  readonly clock: FastClock;
  readonly watch: KeyWatch;
  readonly failures: Failures;
  readonly counts: { requests: number; assertions: number; refreshes: number; web: number; late: number };
  /** Gives what the command line prints. */
  postern(...args: readonly string[]): Promise<string>;
}

const anyOf = <Item>(items: readonly Item[]): Item => items[Math.floor(Math.random() * items.length)]!;

const keysOf = async ({ api }: GatewayProcess, path: string) => (await api.send({ path })).json;

/** The service behind the gateways: it accepts only what carries an assertion by keys that its copy has. */
async function startService(t: Test, verify: (assertion: string) => Promise<boolean>): Promise<string> {
  const server = createServer(async (request, response) => {
    const assertion = String(request.headers['x-auth-assertion']);
    response.writeHead((await verify(assertion)) ? 200 : 499).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function start(t: Test, speed: number): Promise<Run | null> {
  const clocks = compileClocks(t, temporaryFolder(t));
  if (clocks === null || !requirePostgres(t) || !requireRedis(t)) return null;
  const moved = clocks('all');
  const [postgres, redis] = [
    await startPostgres(t, { env: moved.env }),
    await startRedis(t, { env: moved.env }),
  ];
  const failures = new Failures();
  const counts = { requests: 0, assertions: 0, refreshes: 0, web: 0, late: 0 };
  const assertionKeys = new KeyCopy(() => keysOf(anyOf(gateways), assertionKeysPath), copyMs);
  const url = await startService(t, async (assertion) => {
    counts.assertions += 1;
    return assertionKeys.verify(assertion, clock.now()).then(
      () => true,
      (error) => {
        failures.add(`a service refused an assertion: ${error}`);
        return false;
      },
    );
  });
  const config = {
    stores: { records: `${postgres.url}?schema=rotation`, sessions: redis.url },
    tokens: { access_lifetime: `${lifetimeMs}ms` },
    sessions: { reuse_grace: '60s' },
    signing_keys: { rotate_every: `${rotateEveryMs}ms`, publish_ahead: `${publishAheadMs}ms` },
    upstreams: { app: { url, assertion: { algorithm: 'EdDSA', lifetime: `${lifetimeMs}ms` } } },
    routes: [
      { prefix: '/app', upstream: 'app', browser: true },
      { prefix: '/api', upstream: 'app' },
    ],
    web: {},
  };
  const env = Object.entries(moved.env).map(([name, value]) => `${name}=${value}`);
  const program = ['env', '-u', 'NODE_OPTIONS', ...env, process.execPath, main] as const;
  const first = await startGatewayProcess(t, { config, program });
  const gateways = [first, await startGatewayProcess(t, { config, program, folder: first.folder })];
  await first.api.activate(username, password, bootstrapToken);
  const clock = new FastClock(t, moved, speed);
  const postern = async (...args: readonly string[]) => {
    const [command, ...rest] = program;
    return (await execFile(command, [...rest, ...args, '--config', first.configFile])).stdout;
  };
  return { gateways, clock, watch: new KeyWatch(), failures, counts, postern };
}

/** Someone who is signed in, in two ways, and keeps tokens to their end. */
class Client {
  readonly #run: Run;
  #cookie = '';
  #web = '';
  #tokens: { readonly token: string; readonly until: number }[] = [];
  #refreshedAt = 0;

  constructor(run: Run) {
    this.#run = run;
  }

  async signIn(): Promise<void> {
    const { gateways, clock } = this.#run;
    const signedInAt = clock.now();
    const { accessToken, cookie } = await anyOf(gateways).api.signIn(username, password);
    this.#cookie = cookie;
    this.#keep(accessToken, signedInAt);
    this.#web = await signInWithForm(anyOf(gateways));
  }

  /** Refreshes when it is time, and uses one token and now and then the web cookie, each at any gateway. */
  async step(services: readonly KeyCopy[]): Promise<void> {
    const { gateways, clock, counts } = this.#run;
    if (clock.now() - this.#refreshedAt > minute) await this.#refresh();
    this.#tokens = this.#tokens.filter(({ until }) => until > clock.now());
    if (this.#tokens.length === 0) return;
    const { token, until } = anyOf(this.#tokens);
    counts.requests += 1;
    await anyOf(services)
      .verify(token, clock.now())
      .catch((error) => this.#judge(until, `a service refused a token: ${error}`));
    const { status } = await anyOf(gateways).api.send({ path: '/api/else', bearer: token });
    if (status !== 200) this.#judge(until, `a gateway answered ${status} to a token`);
    if (Math.random() < 0.2) await this.useWebCookie();
  }

  async useWebCookie(): Promise<void> {
    this.#run.counts.web += 1;
    const request = { path: '/app', headers: navigation, cookie: this.#web };
    const { status } = await anyOf(this.#run.gateways).api.send(request);
    if (status !== 200) this.#run.failures.add(`a gateway answered ${status} to a web cookie`);
  }

  async #refresh(): Promise<void> {
    const { gateways, clock, counts, failures } = this.#run;
    const askedAt = clock.now();
    const refreshed: ApiResponse = await anyOf(gateways).api.refresh(this.#cookie);
    counts.refreshes += 1;
    this.#refreshedAt = askedAt;
    this.#cookie = refreshed.setCookies[0]?.split(';', 1)[0] ?? this.#cookie;
    if (refreshed.status === 200) this.#keep(refreshed.json.access_token, askedAt);
    else failures.add(`a gateway answered ${refreshed.status} to a refresh cookie`);
  }

  #keep(token: string, since: number): void {
    const { watch, clock } = this.#run;
    watch.signed(token, clock.now());
    // Its times are whole seconds.
    this.#tokens.push({ token, until: since + lifetimeMs - 1_000 });
  }

  /** A token that has ended in the meantime is refused rightly. */
  #judge(until: number, text: string): void {
    const { clock, failures, counts } = this.#run;
    if (clock.now() < until) failures.add(text);
    else counts.late += 1;
  }
}

async function signInWithForm({ api }: GatewayProcess): Promise<string> {
  const form = { username, password };
  const response = await api.send({ method: 'POST', path: '/postern/sign-in', form, headers: ownForm });
  const cookie = cookieNamed(response, webCookieName);
  if (cookie === undefined) throw new Error(`${response.status} ${response.text}`);
  return cookie;
}

/** Lets clients work until that time; meanwhile looks at what the gateways publish. */
async function work(run: Run, clients: readonly Client[], until: number): Promise<void> {
  const { gateways, clock, watch } = run;
  const services = gateways.map(
    (gateway) => new KeyCopy(() => keysOf(gateway, '/.well-known/jwks.json'), copyMs),
  );
  const loops = clients.map(async (client) => {
    while (clock.now() < until) {
      await client.step(services);
      await sleep(50);
    }
  });
  const looking = async () => {
    while (clock.now() < until) {
      for (const gateway of gateways)
        watch.published(await keysOf(gateway, '/.well-known/jwks.json'), clock.now());
      await sleep(100);
    }
  };
  await Promise.all([...loops, looking()]);
}

t.test(`${rotations} rotations under load: no valid token and no cookie is refused`, async (t) => {
  const run = await start(t, rate);
  if (run === null) return;
  const { gateways, clock, watch, failures, counts } = run;
  const clients = Array.from({ length: clientCount }, () => new Client(run));
  for (const client of clients) await client.signIn();
  // Of the first secrets, and used for the first time at the end.
  const late = await anyOf(gateways).api.signIn(username, password);
  const lateWeb = await signInWithForm(anyOf(gateways));
  await work(run, clients, clock.now() + (rotations + 0.5) * rotateEveryMs);

  t.comment(JSON.stringify(counts));
  t.strictSame(failures.list, []);
  t.ok(counts.late < counts.requests / 20, 'hardly a token ended while it was judged');
  t.ok(counts.requests > rotations * 100, 'there was load');
  t.equal((await anyOf(gateways).api.refresh(late.cookie)).status, 200, 'an old cookie is accepted');
  for (const { api } of gateways) {
    const { status } = await api.send({ path: '/app', headers: navigation, cookie: lateWeb });
    t.equal(status, 200, 'and an old web cookie');
  }
  const used = watch.used();
  // Each comes when a gateway next looks at the clock: somewhat late.
  const least = Math.floor(0.9 * rotations);
  t.ok(used.length > least, `${used.length} keys signed`);
  for (const [index, { published, lastPublished, signed, lastSigned }] of used.entries()) {
    if (index > 0)
      t.ok(
        signed! - published >= publishAheadMs - lookMs,
        `${signed! - published} ms published, then signed`,
      );
    if (clock.now() - lastSigned! < lifetimeMs + keptBesidesMs + 2 * lookMs) continue;
    const keptMs = lastPublished - lastSigned!;
    t.ok(keptMs >= lifetimeMs - lookMs, `${keptMs} ms published for its tokens`);
    t.ok(keptMs <= lifetimeMs + keptBesidesMs + lookMs, 'and no longer');
  }
  const turned = gateways.flatMap((gateway) =>
    gateway
      .logLines()
      .filter(({ event }) => event === 'signing_key_rotated')
      .map(({ target }) => (target as { readonly id: string }).id),
  );
  t.equal(new Set(turned).size, turned.length, `each of ${turned.length} rotations happened once`);
  t.ok(turned.length >= 3 * least, 'of tokens, assertions and cookies');
});

/** The status of what each gateway answers to a request. */
const statusesOf = ({ gateways }: Run, request: ApiRequest) =>
  Promise.all(gateways.map(async ({ api }) => (await api.send(request)).status));

/** What one sign-in gives, and how it is used. */
async function signInEverywhere(gateway: GatewayProcess) {
  const { accessToken, cookie } = await gateway.api.signIn(username, password);
  const web = await signInWithForm(gateway);
  return {
    // First, as a gateway looks for changes of its own accord at a sign-in and a refresh.
    web: { path: '/app', headers: navigation, cookie: web },
    token: { path: '/api/else', bearer: accessToken },
    refresh: { method: 'POST', path: '/api/login/refresh-token', cookie },
  };
}

/** What was refused at one gateway, though another had made it. */
interface RefusedElsewhere {
  readonly madeAt: GatewayProcess;
  readonly name: string;
  readonly request: ApiRequest;
}

/**
 * Signs in at one gateway and uses what that gave at the other, again and again; gives what was refused there. Some of it
 * was made by the key that is being revoked.
 */
async function useElsewhere(
  { gateways, counts }: Run,
  isOver: () => boolean,
): Promise<readonly RefusedElsewhere[]> {
  const refused: RefusedElsewhere[] = [];
  for (let turn = 0; !isOver(); turn += 1) {
    const [madeAt, elsewhere] = [gateways[turn % 2]!, gateways[(turn + 1) % 2]!];
    for (const [name, request] of Object.entries(await signInEverywhere(madeAt))) {
      counts.requests += 1;
      if ((await elsewhere.api.send(request)).status !== 200) refused.push({ madeAt, name, request });
    }
  }
  return refused;
}

t.test(`${revocations} revoked keys: tokens of the next key count at once`, async (t) => {
  const run = await start(t, 1);
  if (run === null) return;
  const { gateways, postern, failures, counts } = run;
  for (let round = 0; round < revocations; round += 1) {
    const purpose = round % 3 === 0 ? 'access-token' : 'cookie';
    const before = await signInEverywhere(anyOf(gateways));
    const listed: readonly { kid: string; purpose: string; status: string }[] = JSON.parse(
      await postern('signing-key', 'list', '--json'),
    );
    const { kid } = listed.find((key) => key.purpose === purpose && key.status === 'current')!;
    let isOver = false;
    const using = useElsewhere(run, () => isOver);
    await postern('signing-key', 'revoke', kid);
    const revokedAt = performance.now();
    await sleep(1_000 * leeway);
    isOver = true;
    const refused = await using;
    const tookMs = performance.now() - revokedAt;
    const ended = purpose === 'cookie' ? [before.refresh, before.web] : [before.token];
    for (const request of ended)
      for (const status of await statusesOf(run, request))
        if (status !== 401 && status !== 302)
          failures.add(`${status} to what a revoked key signed, ${Math.round(tookMs)} ms later`);
    // What the next key made is still accepted where it was made.
    for (const { madeAt, name, request } of refused)
      if ((await madeAt.api.send(request)).status === 200)
        failures.add(`a ${name} was refused at the other gateway at first`);
  }
  t.comment(`${counts.requests} uses`);
  t.strictSame(failures.list, []);
});
