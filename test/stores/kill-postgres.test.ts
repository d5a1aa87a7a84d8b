import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { AcknowledgedKeys, changeKeys, judgeUse } from '../support/administration/acknowledged-keys.ts';
import { eventually } from '../support/eventually.ts';
import { administrator } from '../support/gateway/gateway.ts';
import type { GatewayProcess } from '../support/gateway/gateway-process.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { activate, makeReplicaFolder, startPostgresReplica } from '../support/stores/postgres-replicas.ts';
import { type PostgresServer, startPostgres } from '../support/stores/postgres-server.ts';

const { username, password } = administrator;
const rounds = isLong ? 50 : 2;
const changesInRound = isLong ? 1_000 : 200;
const clients = 18;
const timeout = isLong ? 1_800_000 : 600_000;
t.setTimeout(timeout);

interface Stage {
  readonly server: PostgresServer;
  readonly folder: string;
  /** A gateway that was killed is replaced. */
  readonly gateways: GatewayProcess[];
}

/** Which process is killed, round by round. */
const victims: readonly ((stage: Stage) => Promise<unknown>)[] = [
  ({ server }) => server.kill(),
  ({ server, gateways }) => Promise.all([server.kill(), gateways[0]!.kill()]),
  ({ gateways }) => gateways[1]!.kill(),
];

/** Restarts what was killed; gives an access token, and how long it took until all gateways accepted it, ms. */
async function restore(t: Test, { server, folder, gateways }: Stage): Promise<string> {
  if (server.pid === null) await server.restart();
  for (const [index, { pid }] of gateways.entries())
    if (pid === null) gateways[index] = await startPostgresReplica(t, server.url, folder);
  const { accessToken: bearer } = await eventually('a sign-in', () =>
    gateways[0]!.api.signIn(username, password),
  );
  for (const { api } of gateways)
    await eventually('it reaches the store', async () => {
      const response = await api.send({ path: '/api/admin/api-keys/?size=1', bearer });
      return response.status === 200;
    });
  return bearer;
}

async function versionOf({ server }: Stage): Promise<number> {
  const [row] = await server.query<{ version: string }>('SELECT version FROM postern.store_state');
  return Number(row!.version);
}

/** How many keys the log of changes names since then; changes that are made together share a version. */
async function keysChangedSince({ server }: Stage, version: number): Promise<number> {
  const rows = await server.query<{ hints: string }>('SELECT hints FROM postern.changes WHERE version > $1', [
    version,
  ]);
  return rows.flatMap(({ hints }) => hints.split(' ')).filter((hint) => /^(new-)?key:/.test(hint)).length;
}

/** Lets all clients change keys, kills the victims at some point; gives what was acknowledged. */
async function playRound(stage: Stage, round: number, bearer: string): Promise<AcknowledgedKeys> {
  const known = new AcknowledgedKeys();
  const killAt = 1 + Math.floor(Math.random() * (changesInRound - clients));
  const kill = async () => {
    while (known.changes < killAt) await sleep(Math.random() * 3);
    await victims[round % victims.length]!(stage);
  };
  const { gateways } = stage;
  const changing = Array.from({ length: clients }, (_, client) =>
    changeKeys(gateways[client % gateways.length]!.api, bearer, known, {
      name: `${round}.${client}`,
      until: changesInRound,
      isStoreMortal: true,
    }),
  );
  await Promise.all([kill(), ...changing]);
  return known;
}

async function judgeRecords(t: Test, stage: Stage, round: number, known: AcknowledgedKeys): Promise<void> {
  const rows = await stage.server.query<{ label: string; sets: number }>(
    `SELECT label, (SELECT count(*)::int FROM postern.api_key_scope_sets s WHERE s.key_id = k.id) AS sets
      FROM postern.api_keys k WHERE label LIKE $1`,
    [`${round}.%`],
  );
  const found = new Set(rows.map(({ label }) => label));
  t.equal(found.size, rows.length, `round ${round}, ${known.changes} changes: none twice`);
  t.strictSame(known.problems(found), { lost: [], undead: [], unexplained: [] });
  t.ok(
    rows.every(({ sets }) => sets === 1),
    'and none half',
  );
}

t.test(`killed ${rounds} times amid changes, nothing acknowledged is lost`, { timeout }, async (t) => {
  if (!requirePostgres(t)) return;
  const server = await startPostgres(t);
  const folder = makeReplicaFolder(t);
  const start = () => startPostgresReplica(t, server.url, folder);
  const stage: Stage = { server, folder, gateways: await Promise.all([start(), start(), start()]) };
  await activate(stage.gateways[0]!);
  let changes = 0;
  let unsure = 0;
  for (let round = 0; round < rounds; round += 1) {
    const bearer = await restore(t, stage);
    const versionBefore = await versionOf(stage);
    const known = await playRound(stage, round, bearer);
    await restore(t, stage);
    await judgeRecords(t, stage, round, known);
    const counted = await keysChangedSince(stage, versionBefore);
    const most = known.changes + known.unsure.size;
    t.ok(counted >= known.changes && counted <= most, `${counted} changes logged, at most ${most}`);
    for (const { api } of stage.gateways) await judgeUse(t, api, known);
    changes += known.changes;
    unsure += known.unsure.size;
  }
  t.comment(`${changes} changes acknowledged, ${unsure} not answered`);
});
