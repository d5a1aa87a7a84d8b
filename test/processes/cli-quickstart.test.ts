import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { createCommandFolder, type ServeProcess } from '../support/gateway/command.ts';
import { runLines } from '../support/gateway/printed-lines.ts';
import { navigation } from '../support/pages/web.ts';
import { guessPort } from '../support/servers/loopback-port.ts';

const onFreePort = { host: '127.0.0.1', port: 0 };
const quickstart = parse(readFileSync(join(import.meta.dirname, '../../config/quickstart.yaml'), 'utf8'));
const config = {
  ...quickstart,
  listen: onFreePort,
  management: onFreePort,
  stores: { records: 'sqlite:records.db', sessions: 'sqlite:sessions.db' },
  bootstrap: {},
};

/** The password in the shell lines that were printed. */
function passwordIn({ printed }: ServeProcess): string {
  return /^ {2}PASSWORD=(.+)$/m.exec(printed().stderr)?.[1] ?? '';
}

/** Runs the shell lines that were printed, and gives the lines they print. */
function runPrinted(serving: ServeProcess, password = passwordIn(serving)): Promise<string[]> {
  const { stderr } = serving.printed();
  return runLines(stderr.replace(`PASSWORD=${passwordIn(serving)}`, `PASSWORD=${password}`));
}

t.test('the lines of --quickstart can be pasted and do what they say', async (t) => {
  const folder = createCommandFolder(t, config);
  const serving = await folder.serve(['--quickstart']);
  t.match(serving.printed().stderr, /\npostern: bootstrap token: \S+\n/);
  const { port } = serving;
  const page = `http://127.0.0.1:${port}/`;
  t.match(serving.printed().stderr, `\nOpen it in a browser: ${page}postern/activate#token=`);
  t.match(serving.printed().stderr, '\npostern: console: http://127.0.0.1:8080/postern/console/\n');
  const opened = await serving.api.send({ path: '/', headers: navigation });
  t.match(opened, { status: 302, headers: { location: '/postern/sign-in?return_to=%2F' } });
  const walk = [
    /^\{"method":"GET","target":"\/api\/store\/asset\/1".*\["X-Auth-Username","admin"\]/,
    /^\{"items":\[\{"id":"[^"]*","label":"first key".*"total":1,/,
    /"code":"invalid_api_key"/,
    /^\{"access_token":"[^"]*","token_type":"bearer"/,
    /"code":"invalid_refresh_token"/,
  ];
  const password = passwordIn(serving);
  t.match(password, /^[0-9a-f]{24}$/);
  t.match(await runPrinted(serving), [/^\{"id":"[^"]*","username":"admin"\}$/, ...walk]);
  for (const guess of ['correct horse battery staple', 'THE-PASSWORD-PRINTED-AT-START'])
    await t.rejects(serving.api.signIn('admin', guess), 'no password that everyone can read opens it');

  serving.child.kill('SIGTERM');
  await serving.ended;
  const again = await folder.serve(['--quickstart']);
  t.match(again.printed().stderr, `\nOpen it in a browser: http://127.0.0.1:${again.port}/\n`);
  t.notMatch(again.printed().stderr, /bootstrap/, 'somebody is activated already');
  t.equal(passwordIn(again), "'the password of admin'", 'nobody but its owner knows it');
  t.match(await runPrinted(again, password), walk);
});

t.test('the lines call the API where the configuration has it', async (t) => {
  const folder = createCommandFolder(t, { ...config, api_path: '/postern/api' });
  const serving = await folder.serve(['--quickstart']);
  t.notMatch(serving.printed().stderr, /\$URL\/api\/(?!store)/);
  t.match(await runPrinted(serving), [
    /"username":"admin"/,
    /^\{"method":"GET","target":"\/api\/store\/asset\/1".*\["X-Auth-Username","admin"\]/,
    /"label":"first key"/,
    /"code":"invalid_api_key"/,
    /^\{"access_token":/,
    /"code":"invalid_refresh_token"/,
  ]);
});

t.test('the addresses are those of the configuration', async (t) => {
  const listen = { host: '127.0.0.1', port: guessPort() };
  const own = {
    ...config,
    listen,
    base_url: 'https://acme.example.com',
    web: { path: '/pages', console: {} },
    log: { format: 'text' },
  };
  const folder = createCommandFolder(t, own);
  const shown = (serving: ServeProcess) => serving.printed().stderr;
  const first = await folder.serve(['--quickstart']);
  t.match(shown(first), /\nOpen it in a browser: https:\/\/acme\.example\.com\/pages\/activate#token=\S+\n/);
  t.match(shown(first), '\n  URL=https://acme.example.com JAR=$(mktemp)\n');
  const [, token] = /bootstrap token: (\S+)/.exec(shown(first)) ?? [];
  first.child.kill('SIGTERM');
  await first.ended;

  const plain = await folder.serve();
  const activation = `https://acme.example.com/pages/activate#token=${token}`;
  t.match(shown(plain), `\npostern: create the first administrator at: ${activation}\n`);
  await plain.api.activate('ada', 'correct horse battery staple', token!);
  await plain.api.signIn('ada', 'correct horse battery staple');
  plain.child.kill('SIGTERM');
  const { stdout: log } = await plain.ended;
  t.match(log, / audit {2}user_created {2}by bootstrap token {2}subject=ada {2}/);
  t.match(log, / audit {2}login_succeeded {2}by ada {2}/);

  const again = await folder.serve(['--quickstart']);
  t.match(shown(again), '\nOpen it in a browser: https://acme.example.com/\n');
});

t.test('a token from the configuration is not printed, and without pages there is no address', async (t) => {
  const token = 'a-token-of-the-configuration';
  const configured = await createCommandFolder(t, { ...config, bootstrap: { token } }).serve([
    '--quickstart',
  ]);
  t.notMatch(configured.printed().stderr, new RegExp(`${token}|#token=`));
  const { web: _, routes, ...others } = config;
  const withoutPages = {
    ...others,
    routes: routes.map(({ browser: _, ...route }: Record<string, unknown>) => route),
  };
  const { stderr } = (await createCommandFolder(t, withoutPages).serve(['--quickstart'])).printed();
  t.match(stderr, '\nTry it in another terminal:\n');
  t.notMatch(stderr, /in a browser|activate#token/);
});
