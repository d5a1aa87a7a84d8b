import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { addUser, changeUser, withRecords } from '../support/administration/accounts.ts';
import { removeUser } from '../support/administration/record-changes.ts';
import { judgeElapsed } from '../support/elapsed.ts';
import { runPostern } from '../support/gateway/command.ts';
import {
  closeCodeOf,
  openWebSocket,
  startWebSocketGateway,
  type WebSocketGateway,
} from '../support/servers/web-sockets.ts';

const bea = { username: 'bea', password: 'another horse battery' };
const day = 86_400_000;

/** What may end the streams of Bea's session, and nobody else's. */
interface Setting extends WebSocketGateway {
  readonly beaId: string;
  readonly beaBearer: string;
  readonly beaCookie: string;
}

async function start(t: Test, sessions: object = {}): Promise<Setting> {
  const gateway = await startWebSocketGateway(t, { config: { sessions } });
  const { id } = await addUser(gateway.folder, { ...bea, scopes: ['store:read', 'store:write'] });
  const { accessToken, cookie } = await gateway.api.signIn(bea.username, bea.password);
  return { ...gateway, beaId: id, beaBearer: accessToken, beaCookie: cookie };
}

function open({ port }: Setting, bearer: string, path = '/api/store/live') {
  return openWebSocket(port, path, { headers: { Authorization: `Bearer ${bearer}` } });
}

/** Runs a command as a process of its own on the stores of the gateway. */
async function command({ configFile }: Setting, ...args: string[]): Promise<void> {
  const { code, stderr } = await runPostern([...args, '--config', configFile]);
  if (code !== 0) throw new Error(stderr);
}

const sessionEnds: Record<string, (setting: Setting) => unknown> = {
  'its sign-out by token': ({ api, beaBearer }) => api.send({ path: '/api/logout', bearer: beaBearer }),
  'its sign-out by cookie': ({ api, beaCookie }) => api.send({ path: '/api/logout', cookie: beaCookie }),
  'its end': ({ advance }) => advance(90 * day + 1),
  'the user being disabled': ({ folder, beaId }) => changeUser(folder, beaId, { disabled: true }),
  'the user being removed': ({ folder, beaId }) =>
    withRecords(folder, (records) => removeUser(records, beaId)),
  'the user losing the scope': ({ folder, beaId }) => changeUser(folder, beaId, { scopes: ['store:write'] }),
};

for (const [name, end] of Object.entries(sessionEnds))
  t.test(`a WebSocket of a session ends within a second of ${name}`, async (t) => {
    const setting = await start(t);
    const closed = closeCodeOf(await open(setting, setting.beaBearer));
    const others = [
      await openWebSocket(setting.port, '/api/store/live', { headers: { 'X-API-Key': setting.key } }),
      ...(name === 'its end' ? [] : [await open(setting, setting.bearer)]),
    ];
    await end(setting);
    const sinceMs = performance.now();
    t.equal(await closed, 1008);
    judgeElapsed(t, sinceMs, 1_000);
    t.equal(await setting.sockets.accepted[0]!.closed, 1008);
    await sleep(500);
    for (const other of others) t.equal(other.readyState, other.OPEN, 'nobody else’s');
  });

t.test('a WebSocket ends when an old refresh cookie turns up', async (t) => {
  const setting = await start(t, { reuse_grace: '10ms' });
  const { api } = setting;
  let { beaCookie: cookie } = setting;
  const closed = closeCodeOf(await open(setting, setting.beaBearer));
  for (let i = 0; i < 3; i++) {
    await sleep(20);
    cookie = (await api.refresh(cookie)).setCookies[0]!.split(';', 1)[0]!;
    await api.refresh(cookie);
  }
  t.equal((await api.refresh(setting.beaCookie)).status, 401);
  t.equal(await closed, 1008);
});

for (const verb of ['disable', 'remove'])
  t.test(`a WebSocket ends when the command line says user ${verb}`, async (t) => {
    const setting = await start(t);
    const bySession = closeCodeOf(await open(setting, setting.beaBearer));
    const other = await open(setting, setting.bearer);
    let commandEndedMs = Number.POSITIVE_INFINITY;
    const commanded = command(setting, 'user', verb, bea.username).then(() => {
      commandEndedMs = performance.now();
    });
    t.equal(await bySession, 1008);
    await commanded;
    judgeElapsed(t, commandEndedMs, 1_000);
    t.equal(other.readyState, other.OPEN);
  });

t.test('connections that are still allowed go on', async (t) => {
  const setting = await start(t);
  const { api, folder, beaId, bearer } = setting;
  const narrow = await api.signIn(bea.username, bea.password, { scope: 'store:read' });
  const sockets = {
    'under a token of fewer scopes than the user holds': await open(setting, narrow.accessToken),
    'while the user loses a scope that its route does not need': await open(setting, setting.beaBearer),
    'of another user': await open(setting, bearer),
    'on a route that needs no scope': await open(setting, setting.beaBearer, '/api/live'),
    'on a public route': await open(setting, setting.beaBearer, '/api/open/live'),
  };
  await changeUser(folder, beaId, { scopes: ['store:read'] });
  const other = await api.signIn(bea.username, bea.password);
  await api.send({ path: '/api/logout', bearer: other.accessToken });
  setting.advance(3_600_000);
  await sleep(1_000);
  for (const [name, socket] of Object.entries(sockets)) t.equal(socket.readyState, socket.OPEN, name);

  await changeUser(folder, beaId, { scopes: [] });
  await sleep(1_000);
  t.same(
    Object.values(sockets).map(({ readyState }) => readyState === 1),
    [false, false, true, true, true],
    'only routes that need the scope',
  );
});
