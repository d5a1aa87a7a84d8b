import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openPostgresRecords } from '../../src/stores/postgres/records.ts';
import type { Records } from '../../src/stores/records.ts';
import { createSqliteRecords } from '../../src/stores/sqlite/records.ts';
import { createManualClock, temporaryFolder } from '../contract/sqlite-stores.ts';
import type { KillPlan } from '../support/administration/kill-points.ts';
import { dueTurn, prepareDueTurn } from '../support/gateway/due-turn.ts';
import { spawnNode } from '../support/gateway/node-process.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';
import { postgresAddress } from '../support/stores/store-addresses.ts';

const programs = join(import.meta.dirname, '../support/programs');
const limits = { maxConnections: 2, timeoutMs: 10_000 };

t.setTimeout(240_000);

type Store = Omit<Records, 'version'>;

/** Runs a rotation in a process of its own that is killed at that statement; gives how many there were, if it was not. */
async function rotateIn(
  folder: string,
  store: string,
  time: number,
  at: number | null,
): Promise<number | 'killed'> {
  const planFile = join(folder, 'plan.json');
  const plan: KillPlan = { at, server: null, pauses: [] };
  writeFileSync(planFile, JSON.stringify(plan));
  rmSync(`${planFile}.reached`, { force: true });
  const args = ['--import', join(programs, 'kill-at-statement.ts'), join(programs, 'turn-keys.ts')];
  const child = spawnNode([...args, store, String(time)], {
    env: { ...process.env, KILL_PLAN: planFile },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code, signal] = await once(child, 'exit');
  if (signal === 'SIGKILL') return 'killed';
  if (code !== 0 || !existsSync(`${planFile}.reached`)) throw new Error(`it ended with ${code}`);
  return (JSON.parse(readFileSync(`${planFile}.reached`, 'utf8')) as unknown[]).length;
}

const eventOf = async (store: Store) => {
  const order = { sortBy: 'time', sortOrder: 'desc', size: 100, filters: [] } as const;
  return (await store.listAuditEvents(order)).items.map(({ target }) => target?.id);
};

/** What the keys and the audit say, before and after. */
const before = { kids: ['third', 'second', 'first'], signs: ['second'], events: ['second'] };
const after = { kids: ['third', 'second'], signs: ['third'], events: ['third', 'second'] };

async function stateOf(store: Store): Promise<typeof before> {
  const { keys } = await store.signingKeys();
  return {
    kids: keys.map(({ kid }) => kid),
    signs: keys.flatMap(({ kid, signsFrom, retired }) =>
      signsFrom !== null && retired === null ? [kid] : [],
    ),
    events: (await eventOf(store)) as string[],
  };
}

/** Kills a rotation at each of its statements, on a fresh store each time. */
async function killEverywhere(
  t: Test,
  newStore: () => string,
  open: (store: string, now: () => number) => Promise<Store>,
): Promise<void> {
  const folder = temporaryFolder(t);
  const outcomes = new Set<string>();
  for (let at: number | null = 1; at !== null; ) {
    const address = newStore();
    const { now, advance } = createManualClock();
    const store = await open(address, now);
    await prepareDueTurn(store, advance);
    t.strictSame(await stateOf(store), before);
    const result = await rotateIn(folder, address, now(), at);
    const left = await stateOf(store);
    const isDone = left.signs[0] === 'third';
    t.strictSame(left, isDone ? after : before, `killed at statement ${at}: whole or not at all`);
    outcomes.add(isDone ? 'done' : 'undone');
    await store.turnSigningKeys(...dueTurn(null));
    t.strictSame(await stateOf(store), after, 'the next gateway does it, or finds it done');
    await store.close();
    at = result === 'killed' ? at + 1 : null;
  }
  t.strictSame(outcomes, new Set(['undone', 'done']));
}

t.test('a rotation that is killed at any statement leaves one truth, on SQLite', async (t) => {
  const folder = temporaryFolder(t);
  let count = 0;
  await killEverywhere(
    t,
    () => join(folder, `records-${count++}`, 'records.db'),
    async (file, now) => createSqliteRecords(file, { now }),
  );
});

t.test('a rotation that is killed at any statement leaves one truth, on PostgreSQL', async (t) => {
  if (!requirePostgres(t)) return;
  const server = await startPostgres(t);
  let count = 0;
  await killEverywhere(
    t,
    () => `${server.url}?schema=killed_${process.pid}_${count++}`,
    (url, now) => openPostgresRecords({ access: { address: postgresAddress(url) }, now, ...limits }),
  );
});
