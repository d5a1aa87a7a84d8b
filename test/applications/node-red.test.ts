import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { startApplication } from './application.ts';
import { browse } from './browsing.ts';
import { npmFile } from './installed.ts';

t.setTimeout(300_000);

const account = { username: 'zoe', password: 'another secret altogether' };
/** Hashes of the account's password and of the caller's, by bcrypt at its lowest cost. */
const hashes = {
  account: '$2b$04$mFqf3/E7lhGtsRn70B/hWO9oUhI.77q4VqLFLUH26RNkwXOQyQJQO',
  caller: '$2b$04$34nOheKEQGrLq3O.vVgoaum5HujBxaADY0.0atZQgtlq6c2v/JVMa',
};

t.test('Node-RED with adminAuth: its editor, and hooks with a password of theirs', async (t) => {
  const application = await startApplication(t, {
    recipe: 'Node-RED',
    needs: [npmFile('node-red/red.js')],
    command({ folder, port }) {
      const users = [{ username: account.username, password: hashes.account, permissions: '*' }];
      const settings = {
        uiHost: '127.0.0.1',
        uiPort: port,
        flowFile: 'flows.json',
        adminAuth: { type: 'credentials', users },
        httpNodeRoot: '/hook',
        httpNodeAuth: { user: 'caller', pass: hashes.caller },
        telemetry: { enabled: false, updateNotification: false },
        editorTheme: { tours: false },
      };
      writeFileSync(join(folder, 'settings.js'), `module.exports = ${JSON.stringify(settings)};\n`);
      const flow = [
        { id: 'tab', type: 'tab', label: 'Flow' },
        {
          id: 'in',
          type: 'http in',
          z: 'tab',
          url: '/tea',
          method: 'get',
          x: 100,
          y: 100,
          wires: [['set']],
        },
        {
          id: 'set',
          type: 'template',
          z: 'tab',
          field: 'payload',
          template: 'brewing',
          x: 300,
          y: 100,
          wires: [['out']],
        },
        { id: 'out', type: 'http response', z: 'tab', x: 500, y: 100, wires: [] },
      ];
      writeFileSync(join(folder, 'flows.json'), JSON.stringify(flow));
      return [
        process.execPath,
        npmFile('node-red/red.js'),
        '--userDir',
        folder,
        '--settings',
        join(folder, 'settings.js'),
      ];
    },
  });
  if (application === null) return;
  const { origin } = application;
  const hook = (authorization: string) => fetch(`${origin}/hook/tea`, { headers: { authorization } });
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
  // Node-RED responds before its flows have started.
  await eventually(
    'the hook responds',
    async () => (await (await hook(basic('caller:of the caller'))).text()) === 'brewing',
  );
  t.equal((await hook(basic('caller:guessed'))).status, 401, 'judged by Node-RED');

  const browsing = await browse(t, application, '/');
  if (browsing === null) return;
  const { page, signOut, fetched } = browsing;
  const sockets = new Set<string>();
  page.on('websocket', (socket) => {
    sockets.add(socket.url());
    socket.on('close', () => sockets.delete(socket.url()));
  });
  await page.fill('#node-dialog-login-username', account.username);
  await page.fill('#node-dialog-login-password', account.password);
  await page.click('#node-dialog-login-submit');
  await page.locator('#red-ui-header-button-deploy').waitFor();
  await page.locator('.red-ui-flow-node').first().waitFor();
  t.match(application.sent(), /^authorization: Bearer /im, 'its own token has come through');
  t.ok([...sockets].some((url) => url.endsWith('/comms')));

  await signOut();
  await eventually('its socket has ended', () => sockets.size === 0);
  t.equal((await fetched('/flows')).status, 401);
});
