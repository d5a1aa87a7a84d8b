import t, { type Test } from 'tap';
import {
  administrativeChanges,
  ChangeMaker,
  type HeldSession,
  type PreparedChange,
} from '../support/administrative-changes.ts';
import { eventually } from '../support/eventually.ts';
import { administrator, bootstrapToken } from '../support/gateway.ts';
import { isLong } from '../support/gateway-under-load.ts';
import { type KillPlan, type MortalGateway, startMortalGateway } from '../support/kill-points.ts';
import { requirePostgres } from '../support/postgres-programs.ts';
import { makeReplicaFolder } from '../support/postgres-replicas.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { type RedisServer, requireRedis, startRedis } from '../support/redis-server.ts';
import { statusesAt } from '../support/replicas.ts';
import {
  countEvents,
  type Difference,
  differenceOf,
  readPostgres,
  readSqlite,
  type Tables,
} from '../support/stored-tables.ts';

const timeout = isLong ? 3_000_000 : 300_000;
t.setTimeout(timeout);
const { ending, other } = administrativeChanges;

interface Stage {
  readonly folder: string;
  readonly config: object;
  readonly redis?: RedisServer;
  readTables(): Promise<Tables>;
  mortal: MortalGateway;
  apiKey: string;
}

const provider = { issuer: 'https://idp.example.com', client_id: 'postern' };
const baseConfig = {
  endpoints: { users: 'own' },
  identity_providers: { idp: { ...provider, redirect_uri: 'https://acme.example.com/signed-in' } },
};

async function prepareStage(
  t: Test,
  stores: { readonly records: string; readonly sessions: string },
  more: Partial<Pick<Stage, 'redis' | 'readTables'>> = {},
): Promise<Stage> {
  const folder = makeReplicaFolder(t);
  const config = { ...baseConfig, stores };
  const mortal = await startMortalGateway(t, folder, config);
  const { api } = mortal.gateway;
  const { username, password } = administrator;
  await api.activate(username, password, bootstrapToken);
  const { accessToken } = await api.signIn(username, password);
  const body = { label: 'administration', scopes: [], scope_sets: ['administrator'] };
  const { key: apiKey } = await api.mintKey(accessToken, body);
  return { folder, config, mortal, apiKey, readTables: () => readSqlite(folder), ...more };
}

interface Made {
  readonly change: PreparedChange;
  readonly status: number | undefined;
  readonly difference: Difference;
  /** How many audit lines it left. */
  readonly events: number;
  readonly reached: readonly string[];
}

type Prepare = (make: ChangeMaker) => Promise<PreparedChange>;

/** Makes a change at a gateway to which that happens; if it is killed, another one is started in its place. */
async function make(t: Test, stage: Stage, prepare: Prepare, plan: Partial<KillPlan>): Promise<Made> {
  const { mortal, redis } = stage;
  const { gateway } = mortal;
  const change = await prepare(new ChangeMaker(gateway.api, stage.apiKey));
  const before = await stage.readTables();
  mortal.plan(plan);
  const response = await gateway.api.send(change.request).catch(() => undefined);
  const isToDie = plan.at !== null && plan.at !== undefined;
  if (response === undefined) await gateway.killed();
  else if (isToDie) throw new Error(`it was to be killed at ${plan.at}: ${response.status} ${response.text}`);
  else if (redis !== undefined) await gateway.kill();
  redis?.resume();
  const after = await stage.readTables();
  if (gateway.pid === null) stage.mortal = await startMortalGateway(t, stage.folder, stage.config);
  return {
    change,
    status: response?.status,
    difference: differenceOf(before, after),
    events: countEvents(before, after),
    reached: mortal.reached(),
  };
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

/** How many audit lines its transaction wrote. */
function auditLinesIn({ reached }: Made): number {
  return reached.filter((sql) => sql.startsWith('INSERT INTO audit ')).length;
}

/** What speaks against a change that was cut short, compared with the same one made whole. */
async function problemsOf(stage: Stage, made: Made, whole: Made): Promise<string[]> {
  const isDone = made.difference.length > 0;
  const { ended, spared } = made.change;
  const problems: string[] = [];
  const lines = isDone ? auditLinesIn(whole) : 0;
  if (made !== whole && made.events !== lines) problems.push(`${made.events} audit lines`);
  if (isDone && `${made.difference}` !== `${whole.difference}`) problems.push(`half: ${made.difference}`);
  if (ended !== undefined && (await isAlive(stage, ended)) === isDone)
    problems.push(isDone ? 'the session came back' : 'the session ended');
  if (spared !== undefined && !(await isAlive(stage, spared))) problems.push('the spared session ended');
  return problems;
}

/** The points that are tried in a transaction of so many statements: all, or any, and the one after the last. */
function pointsOf(statements: number): number[] {
  if (isLong) return Array.from({ length: statements + 1 }, (_, index) => index + 1);
  return [1 + Math.floor(Math.random() * statements), statements + 1];
}

/** Any one of them, where many changes are tried. */
function onePointOf(statements: number): number[] {
  return isLong ? pointsOf(statements) : [1 + Math.floor(Math.random() * (statements + 1))];
}

/** All changes, or any few. */
function someOf(changes: Readonly<Record<string, Prepare>>): Readonly<Record<string, Prepare>> {
  if (isLong) return changes;
  const [names, count] = [Object.keys(changes), 3];
  const first = Math.floor(Math.random() * (names.length - count + 1));
  return Object.fromEntries(names.slice(first, first + count).map((name) => [name, changes[name]!]));
}

interface Variant {
  readonly plan?: Partial<KillPlan>;
  readonly points?: (statements: number) => readonly (number | 'sent')[];
}

/** Tries each change at each point. */
async function judgeChanges(
  t: Test,
  stage: Stage,
  changes: Readonly<Record<string, Prepare>>,
  { plan = {}, points = pointsOf }: Variant = {},
): Promise<void> {
  let tried = 0;
  for (const [name, prepare] of Object.entries(changes)) {
    const whole = await make(t, stage, prepare, { ...plan, at: null });
    t.ok(whole.status! < 300, `${name}: ${whole.status}`);
    t.ok(auditLinesIn(whole) > 0 && whole.difference.length > 0, `${name}: ${whole.difference.join('; ')}`);
    t.strictSame(await problemsOf(stage, whole, whole), [], `${name}, whole`);
    for (const at of points(whole.reached.length)) {
      const made = await make(t, stage, prepare, { ...plan, at });
      const last = whole.reached.length;
      const statement =
        at === 'sent' ? 'COMMIT, sent' : (whole.reached[at - 1] ?? 'after the last').split('\n')[0];
      const where = `${name}, killed at ${at} of ${last}: ${statement}`;
      t.strictSame(made.reached, whole.reached.slice(0, at === 'sent' ? last : at), where);
      t.strictSame(await problemsOf(stage, made, whole), [], where);
      if (at !== 'sent') t.equal(made.difference.length > 0, at > last, `${where}: done or not`);
      tried += 1;
    }
  }
  t.comment(`${Object.keys(changes).length} changes, killed at ${tried} points`);
}

t.test(
  'a change that is killed at any statement leaves itself and its audit line, or neither',
  { timeout },
  async (t) => {
    const stage = await prepareStage(t, { records: 'sqlite:records.db', sessions: 'sqlite:sessions.db' });
    await judgeChanges(t, stage, { ...ending, ...other }, { points: onePointOf });
  },
);

t.test('nor does an ended session come back if Redis was paused in the midst', { timeout }, async (t) => {
  if (!requireRedis(t)) return;
  const redis = await startRedis(t);
  const stores = { records: 'sqlite:records.db', sessions: redis.url };
  const stage = await prepareStage(t, stores, { redis });
  await judgeChanges(t, stage, someOf(ending), { plan: { pauses: [redis.pid!] } });
});

t.test('the same holds on PostgreSQL', { timeout }, async (t) => {
  if (!requirePostgres(t)) return;
  const server = await startPostgres(t);
  const readTables = () => readPostgres(server);
  const stage = await prepareStage(
    t,
    { records: server.url, sessions: 'sqlite:sessions.db' },
    { readTables },
  );
  const points = (statements: number) => [...pointsOf(statements), 'sent' as const];
  await judgeChanges(t, stage, someOf({ ...ending, ...other }), { points });
});
