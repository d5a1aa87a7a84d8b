import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { runPostern, startPostern, untilListening } from '../support/gateway/command.ts';
import type { TestScope } from '../support/gateway/gateway.ts';
import { runLines } from '../support/gateway/printed-lines.ts';
import { navigation } from '../support/pages/web.ts';
import { startRecordingUpstream } from '../support/servers/recording-upstream.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

const env = { POSTERN_CONFIG: '' };

function emptyFolder(t: TestScope): string {
  const folder = makeTemporaryFolder('postern-trial-');
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function startTrial(t: TestScope, cwd: string, upstream: string, listen = ':0') {
  return untilListening(t, startPostern(['serve', '--upstream', upstream, '--listen', listen], { cwd, env }));
}

t.test('a trial has sign-in, console and a key, commands work on it, and init keeps it', async (t) => {
  const upstream = await startRecordingUpstream();
  t.teardown(() => upstream.close());
  const cwd = emptyFolder(t);
  const { port, printed, child, ended, api } = await startTrial(t, cwd, `:${new URL(upstream.url).port}`);
  const url = `http://127.0.0.1:${port}`;
  const shown = printed().stderr;
  t.match(shown, `\npostern: console: ${url}/postern/console/\n`);
  t.match(shown, `\nOpen it in a browser: ${url}/postern/activate#token=`);
  t.match(shown, /\nTo keep it, with its users and keys: postern init\n/);
  t.notMatch(printed().stdout, /warning/, 'a trial has nothing to correct');
  const opened = await api.send({ path: '/', headers: navigation });
  t.match(opened, { status: 302, headers: { location: '/postern/sign-in?return_to=%2F' } });

  const lines = await runLines(shown);
  t.match(lines, [/^\{"id":"[^"]*","username":"admin"\}$/, /^The key: pst_/, /"code":"not_authenticated"/]);
  const [, key] = /^The key: (.*)$/.exec(lines[1]!) ?? [];
  const requests = upstream.seen
    .filter(({ target }) => !target.endsWith('.yaml'))
    .map((seen) => [seen.target, ...seen.values('x-auth-username')]);
  t.strictSame(requests, [['/', 'admin']], 'the service sees the key alone');

  const command = (...args: string[]) => runPostern([...args, '--json'], { cwd, env });
  t.match((await command('user', 'list')).json, [{ username: 'admin' }]);
  t.match((await command('key', 'list')).json, [{ label: 'first key', scopes: ['access'] }]);
  t.match((await command('check')).json, [
    { severity: 'warning', file: 'data/trial.yaml', key: 'web.console' },
  ]);
  const audited = (await runPostern(['audit', 'list'], { cwd, env })).stdout;
  t.match(audited, /^\S+ \S+ {2}user_created +success +bootstrap token +admin /m);
  t.equal(statSync(join(cwd, 'data')).mode & 0o777, 0o700);

  const before = readFileSync(join(cwd, 'data/trial.yaml'), 'utf8');
  const second = await startPostern(['serve', '--upstream', ':1', '--listen', `${port}`], { cwd, env }).ended;
  t.match(second, {
    code: 1,
    stderr: `postern: can't listen on 127.0.0.1:${port}: the address is in use; choose another one with --listen [HOST:]PORT\n`,
  });
  t.equal(readFileSync(join(cwd, 'data/trial.yaml'), 'utf8'), before, 'the trial that runs is left alone');

  child.kill('SIGTERM');
  await ended;
  const again = await startTrial(t, cwd, upstream.url, `127.0.0.1:${port}`);
  const [, password = ''] = /PASSWORD=(\w+)$/m.exec(shown) ?? [];
  const shownAgain = again.printed().stderr;
  t.match(shownAgain, `\nOpen it in a browser: ${url}/\n`);
  t.notMatch(shownAgain, /activate/);
  const filled = shownAgain.replace(
    "NAME='your user name' PASSWORD='your password'",
    `NAME=admin PASSWORD=${password}`,
  );
  t.match(await runLines(filled), [/^The key: pst_/, /"code":"not_authenticated"/]);
  t.match(await again.api.send({ path: '/', headers: { 'x-api-key': key! } }), { status: 200 }, 'keys stay');

  again.child.kill('SIGTERM');
  await again.ended;
  t.match(await runPostern(['init'], { cwd, env }), {
    code: 0,
    stdout: /; it keeps the users and keys in \.\/data\./,
  });
  t.match(await runPostern(['check'], { cwd, env }), {
    code: 0,
    stdout: 'postern.yaml: no problems\n',
    stderr: '',
  });
  t.match((await command('user', 'list')).json, [{ username: 'admin' }]);
  const kept = await untilListening(t, startPostern(['serve'], { cwd, env }));
  t.match(kept.printed().stderr, /^postern: configuration: postern\.yaml\npostern: listening on /);
  t.equal(kept.port, port);
  t.match(await kept.api.send({ path: '/', headers: { 'x-api-key': key! } }), { status: 200 });
  const consoleAt = async (host: string) =>
    (await kept.api.send({ path: '/postern/console/', headers: { ...navigation, host } })).status;
  t.equal(await consoleAt(`console.localhost:${port}`), 302, 'to its sign-in page');
  t.equal(await consoleAt(`127.0.0.1:${port}`), 404);
});

t.test('a trial keeps its data to itself', async (t) => {
  const cwd = emptyFolder(t);
  const data = join(cwd, 'data');
  const refusedIn = async (upstream: string) => {
    const args = ['serve', '--upstream', upstream, '--listen', ':0'];
    const { code, stderr } = await startPostern(args, { cwd, env }).ended;
    return { code, stderr };
  };
  // A development server of the same folder.
  let served = cwd;
  const server = createServer((request, response) => {
    const file = join(served, request.url!);
    response.statusCode = existsSync(file) ? 200 : 404;
    response.end(existsSync(file) ? readFileSync(file) : '');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.strictSame(await refusedIn(url), {
    code: 1,
    stderr: `postern: ${url} serves the files of this folder, where a trial would keep its users and keys: start Postern in another folder\n`,
  });
  t.strictSame(readdirSync(cwd), [], 'nothing is left');
  served = dirname(cwd);
  t.match(
    await refusedIn(url),
    { code: 1, stderr: /serves the files of this folder/ },
    'nor from a folder above',
  );

  mkdirSync(data);
  chmodSync(data, 0o777);
  const cure = 'and a trial keeps its data there: start Postern in another folder\n';
  const open = `postern: ./data can be changed by other users (chmod go-w ends that), ${cure}`;
  t.strictSame(await refusedIn('builtin:echo'), { code: 1, stderr: open });
  rmSync(data, { recursive: true });

  const { child, ended } = await startTrial(t, cwd, 'builtin:echo');
  t.equal(readFileSync(join(data, '.gitignore'), 'utf8'), '*\n');
  child.kill('SIGTERM');
  await ended;
  const theirs = join(cwd, 'theirs');
  writeFileSync(theirs, 'theirs');
  rmSync(join(data, 'trial.yaml'));
  symlinkSync(theirs, join(data, 'trial.yaml'));
  await startTrial(t, cwd, 'builtin:echo');
  t.equal(readFileSync(theirs, 'utf8'), 'theirs', 'a link is replaced');
  t.equal(lstatSync(join(data, 'trial.yaml')).mode & 0o777, 0o600);
  t.notOk(readdirSync(data).some((name) => /^[0-9a-f]{16}/.test(name)));
});

t.test('trials that start at the same moment find a port for management each', async (t) => {
  const folders = [emptyFolder(t), emptyFolder(t), emptyFolder(t)];
  const trials = await Promise.all(folders.map((folder) => startTrial(t, folder, 'builtin:echo')));
  t.equal(new Set(trials.map(({ managementPort }) => managementPort)).size, trials.length);
  for (const [index, { managementPort, printed }] of trials.entries()) {
    const written = readFileSync(join(folders[index]!, 'data/trial.yaml'), 'utf8');
    t.match(written, `management: { host: 127.0.0.1, port: ${managementPort} }`, 'and commands know it');
    t.notMatch(printed().stderr, /unencrypted|can't be reached/);
  }
});

t.test('a trial says that its service is not there yet', async (t) => {
  const cwd = emptyFolder(t);
  const { printed } = await startTrial(t, cwd, 'unix:app.sock');
  t.match(
    printed().stderr,
    `\npostern: unix:${join(cwd, 'app.sock')} can't be reached: requests are 502 until the service is there\n`,
  );
});

t.test('a trial that other machines reach says that it is unencrypted', async (t) => {
  const args = ['serve', '--upstream', 'builtin:echo', '--listen', '0.0.0.0:0'];
  const { child, ended, printed } = startPostern(args, { cwd: emptyFolder(t), env });
  t.teardown(() => child.kill('SIGKILL'));
  await eventually('it says so', () => printed().stderr.includes('Open it in a browser'));
  t.match(
    printed().stderr,
    /\npostern: passwords and keys cross the network unencrypted: only for a network that you trust\n/,
  );
  child.kill('SIGTERM');
  await ended;
});

t.test('postern.yaml comes before a trial, and what is named before both', async (t) => {
  const cwd = emptyFolder(t);
  const use = (file: string, tenant: string) => {
    mkdirSync(join(cwd, file, '..'), { recursive: true });
    writeFileSync(join(cwd, file), `tenant: ${tenant} is none\n`);
  };
  const fileOf = async (args: readonly string[], more = env) => {
    const { stderr } = await runPostern(args, { cwd, env: more });
    return /^(\S+?):1:9: tenant: /m.exec(stderr)?.[1];
  };
  use('data/trial.yaml', 'trial');
  t.equal(await fileOf(['check']), 'data/trial.yaml');
  t.match(await runPostern(['serve'], { cwd, env }), { code: 2, stderr: /^postern: no configuration: / });
  use('postern.yaml', 'own');
  t.equal(await fileOf(['check']), 'postern.yaml');
  t.equal(await fileOf(['user', 'list']), 'postern.yaml');
  t.equal(await fileOf(['serve']), 'postern.yaml');
  use('named.yaml', 'named');
  t.equal(await fileOf(['check'], { POSTERN_CONFIG: 'named.yaml' }), 'named.yaml');
  t.equal(
    await fileOf(['check', '-c', 'data/trial.yaml'], { POSTERN_CONFIG: 'named.yaml' }),
    'data/trial.yaml',
  );
});
