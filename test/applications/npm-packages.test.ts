import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type RunningApplication, startApplication } from './application.ts';
import { browse } from './browsing.ts';
import { fromNpm, npmFile } from './installed.ts';

t.setTimeout(300_000);

const settings = `storage: storage
auth: { htpasswd: { file: ./htpasswd } }
packages: { '**': { access: $all, publish: $all, unpublish: $all } }
log: { type: stdout, level: warn }
`;

function startVerdaccio(t: Test): Promise<RunningApplication | null> {
  return startApplication(t, {
    recipe: 'Verdaccio',
    needs: [fromNpm('verdaccio')],
    command({ folder, port }) {
      writeFileSync(join(folder, 'config.yaml'), settings);
      return [
        process.execPath,
        npmFile('verdaccio/bin/verdaccio'),
        '-c',
        'config.yaml',
        '-l',
        `127.0.0.1:${port}`,
      ];
    },
  });
}

/** Runs npm in a folder of the clients whose `.npmrc` has the key, as `_auth`. */
function npmWith({ origin, clients, run }: RunningApplication, key: string) {
  const folder = join(clients, key);
  mkdirSync(folder);
  const auth = Buffer.from(`any:${key}`).toString('base64');
  const lines = [
    `registry=${origin}/`,
    `//${new URL(origin).host}/:_auth=${auth}`,
    'fund=false',
    'audit=false',
  ];
  writeFileSync(join(folder, '.npmrc'), `${lines.join('\n')}\n`);
  return {
    folder,
    npm: (...args: string[]) => run(['npm', ...args], { folder }),
  };
}

/** npm publishes and installs by `_auth`, scoped packages as well. */
async function judgeNpm(t: Test, application: RunningApplication): Promise<void> {
  const { npm, folder } = npmWith(application, application.key);
  for (const [name, directory] of [
    ['tool', 'tool'],
    ['@acme/scoped', 'scoped'],
  ] as const) {
    mkdirSync(join(folder, directory));
    writeFileSync(
      join(folder, directory, 'package.json'),
      JSON.stringify({ name, version: '1.0.0', main: 'index.js' }),
    );
    writeFileSync(join(folder, directory, 'index.js'), `module.exports = '${name}';\n`);
    const published = await npm('publish', `./${directory}`);
    t.equal(published.code, 0, published.printed);
  }
  mkdirSync(join(folder, 'user'));
  const installed = await npm('install', '--prefix', 'user', 'tool', '@acme/scoped');
  t.equal(installed.code, 0, installed.printed);
  t.match(readFileSync(join(folder, 'user/node_modules/@acme/scoped/index.js'), 'utf8'), '@acme/scoped');
  t.match(await npm('dist-tag', 'add', '@acme/scoped@1.0.0', 'stable'), { code: 0 });

  const guessed = npmWith(application, 'guessed');
  t.match(await guessed.npm('view', 'tool'), { code: 1, printed: /E401/ });
}

/** A person signs in to Verdaccio itself, behind the sign-in page, and goes on. */
async function judgeLogin(t: Test, application: RunningApplication): Promise<void> {
  const browsing = await browse(t, application, '/');
  if (browsing === null) return;
  const { page, fetched, signOut } = browsing;
  const account = { name: 'zoe', password: 'another secret altogether' };
  const created = await page.evaluate<number>(
    `fetch('/-/user/org.couchdb.user:zoe', {
      method: 'PUT', headers: { 'Content-Type': 'application/json' }, body: '${JSON.stringify(account)}',
    }).then((response) => response.status)`,
  );
  t.equal(created, 201);
  await page.click('[data-testid="header--button-login"]');
  await page.fill('#login--dialog-username', account.name);
  await page.fill('#login--dialog-password', account.password);
  await page.click('#login--dialog-button-submit');
  await page.locator('[data-testid="logInDialogIcon"]').waitFor();
  await page.reload();
  await page.locator('[data-testid="logInDialogIcon"]').waitFor();
  t.match(application.sent(), /^authorization: Bearer /im, 'its own token has come through');
  await signOut();
  t.equal((await fetched('/-/verdaccio/data/packages')).status, 401);
}

t.test('Verdaccio: npm publishes and installs by _auth, and people sign in to it besides', async (t) => {
  const application = await startVerdaccio(t);
  if (application === null) return;
  await judgeNpm(t, application);
  await judgeLogin(t, application);
});
