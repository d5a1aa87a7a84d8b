import t, { type Test } from 'tap';
import type { UserRecordChanges } from '../../src/stores/user-records.ts';
import { addUserTo } from '../support/administration/accounts.ts';
import { updateUser } from '../support/administration/record-changes.ts';
import { eventually } from '../support/eventually.ts';
import { runPostern } from '../support/gateway/command.ts';
import type { GatewayProcess } from '../support/gateway/gateway-process.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { leeway } from '../support/gateway/replicas.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import {
  activate,
  openStream,
  startPostgresReplicas,
  startStreaming,
  withPostgresRecords,
} from '../support/stores/postgres-replicas.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';

const password = 'a password of the tests';
const rounds = isLong ? 20 : 1;
const timeout = 600_000;
t.setTimeout(timeout);

interface Stage {
  readonly url: string;
  readonly gateways: readonly GatewayProcess[];
}

/** A user with a session and a key, both in use at every gateway. */
interface Account {
  readonly id: string;
  readonly name: string;
  readonly bearer: string;
  readonly key: string;
}

async function run({ gateways }: Stage, args: readonly string[], input = ''): Promise<string> {
  const { configFile } = gateways[0]!;
  const { code, stdout, stderr } = await runPostern([...args, '--config', configFile], { input });
  if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
  return stdout.trimEnd();
}

/** Adds a user as another process would. */
async function addAccount(stage: Stage, name: string): Promise<Account> {
  const { id } = await withPostgresRecords(stage.url, (records) =>
    addUserTo(records, { username: name, password, scopes: ['store:read', 'apikeys:write'] }),
  );
  const { accessToken: bearer } = await stage.gateways[1]!.api.signIn(name, password);
  const { key } = await stage.gateways[2]!.api.mintKey(bearer, { label: 'ci', scopes: ['store:read'] });
  return { id, name, bearer, key };
}

/** At each gateway: with the session and with the key. */
async function statuses({ gateways }: Stage, { bearer, key }: Account): Promise<number[]> {
  const path = '/api/store/x';
  const requests = gateways.flatMap(({ api }) => [
    api.send({ path, bearer }),
    api.send({ path, apiKey: key }),
  ]);
  return (await Promise.all(requests)).map(({ status }) => status);
}

/** The names that the upstreams receive for the session and the key, at each gateway. */
async function names({ gateways }: Stage, { bearer, key }: Account): Promise<unknown[]> {
  const path = '/api/store/x';
  const requests = gateways.flatMap(({ api }) => [
    api.send({ path, bearer }),
    api.send({ path, apiKey: key }),
  ]);
  const responses = await Promise.all(requests);
  return responses.map(({ json }) => new Map(json.headers).get('X-Auth-Username'));
}

/** Opens a stream by session and by key at each gateway; gives when those of each had all ended. */
async function openAll({ gateways }: Stage, { bearer, key }: Account) {
  const open = (line: string) => Promise.all(gateways.map((gateway) => openStream(gateway, line)));
  const [ofSession, ofKey] = await Promise.all([
    open(`Authorization: Bearer ${bearer}`),
    open(`X-API-Key: ${key}`),
  ]);
  return {
    ofSession: { streams: ofSession, endedAtMs: lastOf(ofSession) },
    ofKey: { streams: ofKey, endedAtMs: lastOf(ofKey) },
  };
}

async function lastOf(streams: readonly { readonly endedAtMs: Promise<number> }[]): Promise<number> {
  return Math.max(...(await Promise.all(streams.map(({ endedAtMs }) => endedAtMs))));
}

/** Resolves, with the time it took since then, once `look` gives that. */
async function becomes<T>(t: Test, what: string, sinceMs: number, look: () => Promise<T>, wanted: T) {
  const text = JSON.stringify(wanted);
  await eventually(what, async () => JSON.stringify(await look()) === text);
  judge(t, what, performance.now() - sinceMs);
}

function judge(t: Test, what: string, tookMs: number): void {
  t.ok(tookMs < 1_000 * leeway, `${what} within ${Math.round(tookMs)} ms`);
}

function update({ url }: Stage, { id }: Account, changes: UserRecordChanges): Promise<unknown> {
  return withPostgresRecords(url, (records) => updateUser(records, id, changes));
}

if (requirePostgres(t)) {
  const server = await startPostgres(t);
  const { url } = server;
  const gateways = await startPostgresReplicas(t, [url, url, url], await startStreaming(t));
  await activate(gateways[0]);
  const stage = { url, gateways };

  t.test(
    'a disabled user is signed out everywhere, streams included, and the keys are back when enabled',
    { timeout },
    async (t) => {
      for (let round = 0; round < rounds; round++) {
        const account = await addAccount(stage, `disabled ${round}`);
        const { ofSession, ofKey } = await openAll(stage, account);
        await update(stage, account, { disabled: true });
        const sinceMs = performance.now();
        await becomes(
          t,
          'everything is refused',
          sinceMs,
          () => statuses(stage, account),
          Array(6).fill(401),
        );
        judge(t, 'streams of the session end', (await ofSession.endedAtMs) - sinceMs);
        judge(t, 'streams of the key end', (await ofKey.endedAtMs) - sinceMs);
        await update(stage, account, { disabled: false });
        const enabledAtMs = performance.now();
        await becomes(
          t,
          'keys are accepted, ended sessions are not',
          enabledAtMs,
          () => statuses(stage, account),
          [401, 200, 401, 200, 401, 200],
        );
      }
    },
  );

  t.test("a user's new name or scopes apply everywhere", { timeout }, async (t) => {
    for (let round = 0; round < rounds; round++) {
      const account = await addAccount(stage, `renamed ${round}`);
      const { ofSession, ofKey } = await openAll(stage, account);
      const username = `another-${round}`;
      await update(stage, account, { name: { username, canonicalName: username } });
      const renamedAtMs = performance.now();
      const wanted = Array(6).fill(username);
      await becomes(t, 'the new name is forwarded', renamedAtMs, () => names(stage, account), wanted);
      await update(stage, account, { scopes: ['store:write'] });
      const sinceMs = performance.now();
      const lost = Array(6).fill(403);
      await becomes(t, 'token and key have lost a scope', sinceMs, () => statuses(stage, account), lost);
      judge(t, 'streams of the session end', (await ofSession.endedAtMs) - sinceMs);
      judge(t, 'streams of the key end', (await ofKey.endedAtMs) - sinceMs);
    }
  });

  t.test('changes by the command line apply at running gateways', { timeout }, async (t) => {
    for (let round = 0; round < rounds; round++) {
      const name = `commanded ${round}`;
      const id = await run(stage, ['user', 'add', name, '--scopes', 'store:read'], `${password}\n`);
      const key = await run(stage, [
        'key',
        'create',
        '--user',
        name,
        '--label',
        'ci',
        '--scopes',
        'store:read',
      ]);
      const { accessToken: bearer } = await gateways[1].api.signIn(name, password);
      const account = { id, name, bearer, key };
      t.same(
        await statuses(stage, account),
        Array(6).fill(200),
        'a created user works at once, at all of them',
      );
      const { ofKey, ofSession } = await openAll(stage, account);
      const { json } = await gateways[0].api.send({ path: '/api/store/x', apiKey: key });
      await run(stage, ['key', 'revoke', new Map<string, string>(json.headers).get('X-Auth-Key-Id')!]);
      const revokedAtMs = performance.now();
      const sessionAlone = Array(3).fill([200, 401]).flat();
      await becomes(t, 'a revoked key is refused', revokedAtMs, () => statuses(stage, account), sessionAlone);
      judge(t, 'its streams end', (await ofKey.endedAtMs) - revokedAtMs);
      await run(stage, ['user', 'remove', name]);
      const removedAtMs = performance.now();
      const none = Array(6).fill(401);
      await becomes(t, 'a removed user is refused', removedAtMs, () => statuses(stage, account), none);
      judge(t, 'the streams end', (await ofSession.endedAtMs) - removedAtMs);
    }
  });
}
