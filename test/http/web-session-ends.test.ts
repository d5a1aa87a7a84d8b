import t, { type Test } from 'tap';
import { addUser, changeUser } from '../support/administration/accounts.ts';
import {
  cookieNamed,
  navigation,
  startWebGateway,
  type WebGateway,
  webCookieName,
} from '../support/pages/web.ts';
import { closeCodeOf, openWebSocket, startWebSocketUpstream } from '../support/servers/web-sockets.ts';

const bea = { username: 'bea', password: 'another horse battery' };

/** A gateway, and what Bea has open in her browser. */
interface Setting extends WebGateway {
  readonly beaId: string;
  readonly cookie: string;
}

async function start(t: Test): Promise<Setting> {
  const { url } = await startWebSocketUpstream(t);
  const gateway = await startWebGateway(t, {
    shutdown: { timeout: '50ms' },
    upstreams: { app: { url } },
    routes: [{ prefix: '/app', upstream: 'app', browser: true, upgrades: ['websocket'] }],
  });
  const { id: beaId } = await addUser(gateway.folder, bea);
  const cookie = cookieNamed(await gateway.submit('/postern/sign-in', bea), webCookieName)!;
  return { ...gateway, beaId, cookie };
}

function openLive({ port }: Setting, cookie: string) {
  const headers = { Cookie: cookie, Origin: 'https://acme.example.com' };
  return openWebSocket(port, '/app/live', { headers });
}

const newPassword = { current_password: bea.password, new_password: 'a battery of other horses' };

const ends: Record<string, (setting: Setting) => unknown> = {
  'a sign-out': ({ submit, cookie }) => submit('/postern/sign-out', {}, cookie),
  'another sign-in of the browser': ({ submit, cookie }) => submit('/postern/sign-in', bea, cookie),
  'a new password, set in another browser': async ({ submit }) => {
    const other = cookieNamed(await submit('/postern/sign-in', bea), webCookieName)!;
    return submit('/postern/password', newPassword, other);
  },
  'the user being disabled': ({ folder, beaId }) => changeUser(folder, beaId, { disabled: true }),
  'the administrator, who signs the user out': async ({ api, beaId }) => {
    const { accessToken: bearer } = await api.signIn('ada', 'correct horse battery staple');
    return api.send({ method: 'DELETE', path: `/api/admin/sessions/?user=${beaId}`, bearer });
  },
};

for (const [name, end] of Object.entries(ends))
  t.test(`connections by the web cookie end with ${name}`, async (t) => {
    const setting = await start(t);
    const live = await openLive(setting, setting.cookie);
    const other = await openLive(setting, await setting.signIn());
    const closed = closeCodeOf(live);
    await end(setting);
    t.equal(await closed, 1008);
    t.equal(other.readyState, other.OPEN, 'nobody else’s');
    const { open, api, cookie } = setting;
    t.equal((await open('/postern/', cookie)).status, 302);
    t.equal((await api.send({ path: '/app', cookie, headers: navigation })).status, 302);
  });

t.test('a new password leaves open what the browser has that set it', async (t) => {
  const setting = await start(t);
  const { submit, open, cookie } = setting;
  const live = await openLive(setting, cookie);
  t.equal((await submit('/postern/password', newPassword, cookie)).status, 200);
  live.send('still there?');
  await new Promise((resolve) => live.once('message', resolve));
  t.equal((await open('/postern/', cookie)).status, 200);
});
