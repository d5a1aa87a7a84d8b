import type { Test } from 'tap';
import { eventually } from '../eventually.ts';
import { administrator, bootstrapToken } from '../gateway/gateway.ts';
import { isLong } from '../gateway/gateway-under-load.ts';
import { leeway, statusesAt } from '../gateway/replicas.ts';
import { scrape } from '../gateway/scrape.ts';
import { makeReplicaFolder } from '../stores/postgres-replicas.ts';
import type { PostgresServer } from '../stores/postgres-server.ts';
import type { RedisServer } from '../stores/redis-server.ts';
import {
  countEvents,
  type Difference,
  differenceOf,
  readPostgres,
  readSqlite,
  type Tables,
} from '../stores/stored-tables.ts';
import { ChangeMaker, type HeldSession, type Prepare, type PreparedChange } from './change-maker.ts';
import { type KilledServer, type KillPlan, type MortalGateway, startMortalGateway } from './kill-points.ts';
import { usersPath } from './user-administration.ts';

/** Changes by what happens. */
export type Changes = Readonly<Record<string, Prepare>>;

interface StageOptions {
  readonly records: string;
  readonly sessions: string;
  /** Where the records are, unless they are in SQLite. */
  readonly postgres?: PostgresServer;
  /** Where the sessions are, unless they are in SQLite: paused from the first statement of each change on. */
  readonly redis?: RedisServer;
  /** What is killed; by default the gateway. */
  readonly victim?: 'gateway' | 'postgres';
}

/** A gateway with its stores, where changes are killed. */
export interface Stage extends StageOptions {
  readonly folder: string;
  readonly config: object;
  mortal: MortalGateway;
  readonly apiKey: string;
}

const provider = { issuer: 'https://idp.example.com', client_id: 'postern' };
const unthrottled = { per_account_and_address: 1e6, per_account: 1e6, per_address: 1e6 };
const baseConfig = {
  endpoints: { users: 'own' },
  identity_providers: { idp: { ...provider, redirect_uri: 'https://acme.example.com/signed-in' } },
  login_throttle: unthrottled,
};

/** Starts the gateway, with an administrator's API key. */
export async function prepareStage(t: Test, options: StageOptions): Promise<Stage> {
  const folder = makeReplicaFolder(t);
  const { records, sessions } = options;
  const config = { ...baseConfig, stores: { records, sessions } };
  const mortal = await startMortalGateway(t, folder, config);
  const { api } = mortal.gateway;
  const { username, password } = administrator;
  await api.activate(username, password, bootstrapToken);
  const { accessToken } = await api.signIn(username, password);
  const body = { label: 'administration', scopes: [], scope_sets: ['administrator'] };
  const { key: apiKey } = await api.mintKey(accessToken, body);
  return { ...options, folder, config, mortal, apiKey };
}

interface Made {
  readonly change: PreparedChange;
  readonly status: number | undefined;
  readonly difference: Difference;
  /** How many audit lines it left. */
  readonly events: number;
  readonly reached: readonly string[];
}

function readTables({ postgres, folder }: Stage): Promise<Tables> {
  return postgres === undefined ? readSqlite(folder) : eventually('the tables', () => readPostgres(postgres));
}

function makerOf({ mortal, config, apiKey }: Stage): ChangeMaker {
  return new ChangeMaker(mortal.gateway, config, apiKey);
}

/** How the server is killed at a point, by turns. */
function killedServer({ postgres, victim }: Stage, turn: number): KilledServer | null {
  const ways = ['crash', 'immediate', 'backend'] as const;
  return victim === 'postgres' ? { pid: postgres!.pid!, how: ways[turn % ways.length]! } : null;
}

/** Makes a change, while that happens; what was killed is replaced. */
async function make(t: Test, stage: Stage, prepare: Prepare, wanted: Partial<KillPlan>): Promise<Made> {
  const { mortal, redis } = stage;
  const { gateway } = mortal;
  const change = await prepare(makerOf(stage));
  const before = await readTables(stage);
  const plan = { ...wanted, pauses: redis === undefined ? [] : [redis.pid!] };
  const status = await send(stage, change, plan);
  const isToDie = typeof plan.at === 'number' || plan.at === 'sent';
  if ((status === undefined) !== (isToDie && !plan.server))
    throw new Error(`killed at ${plan.at}: ${status}`);
  // What it would have told Redis is lost.
  if (redis !== undefined && stage.victim !== 'postgres' && gateway.pid !== null) await gateway.kill();
  redis?.resume();
  if (plan.server) await restore(stage, plan.server);
  const after = await readTables(stage);
  const reached = mortal.reached();
  const [difference, events] = [differenceOf(before, after), countEvents(before, after)];
  if (gateway.pid === null) {
    const config = configurationAfter(stage, change, difference.length > 0);
    stage.mortal = await startMortalGateway(t, stage.folder, config);
  }
  return { change, status, difference, events, reached };
}

/** The configuration of the gateway that follows: it starts with what was applied last, or would apply its own. */
function configurationAfter({ config }: Stage, { request }: PreparedChange, isMade: boolean): object {
  if (!('config' in request)) return config;
  return isMade ? request.config : request.before;
}

/** The status of a change; undefined if the gateway that was to make it was killed. */
async function send({ mortal }: Stage, change: PreparedChange, plan: Partial<KillPlan>) {
  const { request } = change;
  if ('config' in request) return mortal.apply(request.config, plan);
  // Events of earlier changes, kept once the records were available again, would be the transaction that is planned for.
  await eventually('no event waits', async () => {
    const scraped = await scrape(mortal.gateway.managementPort);
    return scraped.value('audit_waiting') === 0;
  });
  mortal.plan(plan);
  const response = await mortal.gateway.api.send(request).catch(() => undefined);
  if (response === undefined) await mortal.gateway.killed();
  return response?.status;
}

/** Waits until the killed server serves the gateway again, having restarted it unless it does so itself. */
async function restore({ postgres, mortal, apiKey }: Stage, { how }: KilledServer): Promise<void> {
  if (how !== 'backend') {
    await eventually('the end of the server', () => postgres!.pid === null);
    await postgres!.restart();
  }
  await eventually('the gateway reaches the server', async () => {
    const { status } = await mortal.gateway.api.send({ path: `${usersPath}?size=1`, apiKey });
    return status === 200;
  });
}

async function isAlive(stage: Stage, { bearer, cookie }: HeldSession): Promise<boolean> {
  const { gateway } = stage.mortal;
  const statuses = await eventually('the session store is available', async () => {
    const found = await statusesAt(gateway, [bearer], [cookie]);
    return !found.includes(503) && found;
  });
  const [first, ...others] = statuses.map((status) => status === 200);
  if (others.some((each) => each !== first)) throw new Error(`it is half alive: ${statuses}`);
  return first!;
}

/** What another gateway did, or was done while the server was unavailable, a gateway learns within a second. */
async function hasEnded(stage: Stage, { request }: PreparedChange, session: HeldSession): Promise<boolean> {
  const withinMs = stage.victim === 'postgres' || 'config' in request ? 1_000 * leeway : 0;
  const ending = eventually('the session has ended', async () => !(await isAlive(stage, session)), withinMs);
  await ending.catch(() => {});
  return !(await isAlive(stage, session));
}

/** How many audit lines its transaction wrote. */
function auditLinesIn({ reached }: Made): number {
  return reached.filter((sql) => sql.startsWith('INSERT INTO audit ')).length;
}

/** Whether the records say that it was made. */
function isRecorded({ change, difference, events }: Made): boolean {
  return change.isMade === undefined ? difference.length > 0 : events > 0;
}

/** What speaks against a change that was cut short, compared with the same one made whole. */
async function problemsOf(stage: Stage, made: Made, whole: Made): Promise<string[]> {
  const isDone = isRecorded(made);
  const { ended, spared, isMade } = made.change;
  const problems: string[] = [];
  const lines = isDone ? auditLinesIn(whole) : 0;
  if (made !== whole && made.events !== lines) problems.push(`${made.events} audit lines`);
  if (isDone && `${made.difference}` !== `${whole.difference}`) problems.push(`half: ${made.difference}`);
  if (made.status !== undefined && made.status < 300 && !isDone) problems.push('acknowledged and lost');
  if (isDone && ended !== undefined && !(await hasEnded(stage, made.change, ended)))
    problems.push('the session came back');
  if (!isDone && ended !== undefined && !(await isAlive(stage, ended))) problems.push('the session ended');
  if (spared !== undefined && !(await isAlive(stage, spared))) problems.push('the spared session ended');
  if (!isDone && (await isMade?.(makerOf(stage)))) problems.push('made without an audit line');
  return problems;
}

/** A number from 1 to `count`. */
function anyOf(count: number): number {
  return 1 + Math.floor(Math.random() * count);
}

/** The points that are tried in a transaction of so many statements: all, or any, and the one after the last. */
export function pointsOf(statements: number): number[] {
  if (isLong) return Array.from({ length: statements + 1 }, (_, index) => index + 1);
  return [anyOf(statements), statements + 1];
}

/** Any one of them, where many changes are tried. */
export function onePointOf(statements: number): number[] {
  return isLong ? pointsOf(statements) : [anyOf(statements + 1)];
}

/** All changes, or any few. */
export function someOf(changes: Changes, count = 3): Changes {
  if (isLong) return changes;
  const entries = Object.entries(changes);
  const first = anyOf(entries.length - count + 1) - 1;
  return Object.fromEntries(entries.slice(first, first + count));
}

/** Where a transaction of so many statements is killed. */
type Points = (statements: number) => readonly (number | 'sent')[];

/** Tries each change at each point. */
export async function judgeChanges(t: Test, stage: Stage, changes: Changes, points: Points): Promise<void> {
  let tried = 0;
  for (const [name, prepare] of Object.entries(changes)) {
    const whole = await make(t, stage, prepare, {});
    t.ok(whole.status! < 300, `${name}: ${whole.status}`);
    t.ok(auditLinesIn(whole) > 0 && isRecorded(whole), `${name}: ${whole.difference.join('; ')}`);
    t.strictSame(await problemsOf(stage, whole, whole), [], `${name}, whole`);
    for (const at of points(whole.reached.length)) {
      tried += 1;
      await judgePoint(t, stage, { name, prepare, whole, plan: { at, server: killedServer(stage, tried) } });
    }
  }
  t.comment(`${Object.keys(changes).length} changes, killed at ${tried} points`);
}

interface Point {
  readonly name: string;
  readonly prepare: Prepare;
  readonly whole: Made;
  readonly plan: Pick<KillPlan, 'at' | 'server'>;
}

async function judgePoint(t: Test, stage: Stage, { name, prepare, whole, plan }: Point): Promise<void> {
  const { at, server } = plan;
  const last = whole.reached.length;
  const made = await make(t, stage, prepare, plan);
  const statement =
    at === 'sent' ? 'COMMIT, sent' : (whole.reached[at! - 1] ?? 'after the last').split('\n')[0];
  const where = `${name}, killed${server === null ? '' : ` (${server.how})`} at ${at} of ${last}: ${statement}`;
  t.strictSame(made.reached, whole.reached.slice(0, at === 'sent' ? last : at!), where);
  t.strictSame(await problemsOf(stage, made, whole), [], where);
  // A gateway that starts tries again, once the postmaster has restarted its children.
  const isTriedAgain = 'config' in made.change.request && server?.how === 'backend';
  if (at !== 'sent') t.equal(isRecorded(made), isTriedAgain || at! > last, `${where}: done or not`);
}
