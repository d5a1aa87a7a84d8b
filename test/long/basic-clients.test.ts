import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { startForwarding } from '../support/gateway/forwarding.ts';
import { requireProgram } from '../support/programs.ts';
import { startHttpUpstream } from '../support/servers/http-upstream.ts';

/*
 * Programs that know a user name and a password alone, with a key in its place: they ask as their users have them ask, against
 * what they ask for.
 */

const run = promisify(execFile);
const scopes = ['store:read', 'store:write'];

/** Serves the repositories of a folder, by git's own CGI program. */
function serveGit(root: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url!, 'http://app.example');
  const child = spawn('git', ['http-backend'], {
    env: {
      ...process.env,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      REQUEST_METHOD: request.method!,
      PATH_INFO: pathname.replace(/^\/git(?:-alone)?/, ''),
      QUERY_STRING: searchParams.toString(),
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      REMOTE_USER: String(request.headers['x-auth-username'] ?? ''),
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  request.pipe(child.stdin!);
  const chunks: Buffer[] = [];
  child.stdout!.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.on('close', () => {
    const all = Buffer.concat(chunks);
    const end = all.indexOf('\r\n\r\n');
    const fields = all
      .toString('latin1', 0, end)
      .split('\r\n')
      .map((line) => line.split(': ') as [string, string]);
    const status = fields.find(([name]) => name === 'Status')?.[1];
    response.writeHead(status === undefined ? 200 : Number.parseInt(status, 10), Object.fromEntries(fields));
    response.end(all.subarray(end + 4));
  });
}

/** A gateway whose application is a little of everything, and a key. */
async function start(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'postern-clients-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const { url } = await startHttpUpstream(t, (request, response) => {
    const path = request.url!;
    const answer = (type: string, text: string) =>
      response.writeHead(200, { 'content-type': type }).end(text);
    if (request.headers.authorization !== undefined) response.writeHead(500).end('it saw the credential');
    else if (path.startsWith('/git')) serveGit(folder, request, response);
    else if (path.startsWith('/simple'))
      answer('text/html', '<a href="demo-1.2.3.tar.gz">demo-1.2.3.tar.gz</a>');
    else if (path.startsWith('/npm')) {
      const version = {
        name: 'demo',
        version: '1.2.3',
        dist: { tarball: 'http://127.0.0.1/x', shasum: 'x' },
      };
      answer(
        'application/json',
        JSON.stringify({ name: 'demo', 'dist-tags': { latest: '1.2.3' }, versions: { '1.2.3': version } }),
      );
    } else answer('text/plain', String(request.headers['x-auth-method']));
  });
  const route = { upstream: 'app', scopes };
  const gateway = await startForwarding(t, {
    api_keys: { basic: true },
    upstreams: { app: { url } },
    routes: [
      { prefix: '/git', challenge: 'both', ...route },
      { prefix: '/git-alone', challenge: 'basic', ...route },
      { prefix: '/simple', ...route },
      { prefix: '/npm', ...route },
      { prefix: '/asked', challenge: 'both', ...route },
    ],
  });
  const { key } = await gateway.api.mintKey(gateway.bearer, { label: 'client', scopes });
  return {
    folder,
    key,
    port: gateway.port,
    home: { ...process.env, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' },
  };
}

t.test('curl, asked or not', async (t) => {
  if (!requireProgram(t, 'curl')) return;
  const { port, key } = await start(t);
  for (const options of [['-u'], ['--anyauth', '-u']]) {
    const url = `http://127.0.0.1:${port}/asked`;
    const { stdout } = await run('curl', ['-sS', '--fail', ...options, `ada:${key}`, url]);
    t.equal(stdout, 'api_key');
  }
  await t.rejects(run('curl', ['-sS', '--fail', '-u', 'ada:pst_x', `http://127.0.0.1:${port}/asked`]));
});

t.test('git, by its address and by a helper, which it asks only after a challenge', async (t) => {
  if (!requireProgram(t, 'git')) return;
  const { port, key, folder, home } = await start(t);
  const git = (cwd: string, ...args: string[]) =>
    run('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.example', ...args], {
      cwd,
      env: { ...home, GIT_TERMINAL_PROMPT: '0' },
    });
  await git(folder, 'init', '-q', '--bare', 'demo.git');
  await git(folder, '--git-dir=demo.git', 'config', 'http.receivepack', 'true');
  await git(folder, 'clone', '-q', `http://ada:${key}@127.0.0.1:${port}/git/demo.git`, 'first');
  const first = join(folder, 'first');
  writeFileSync(join(first, 'big'), Buffer.alloc(3_000_000, 'x'));
  await git(first, 'add', '.');
  await git(first, 'commit', '-q', '-m', 'first');
  await git(first, 'push', '-q', 'origin', 'HEAD:refs/heads/main');
  const helper = `credential.helper=!f() { echo username=ada; echo password=${key}; }; f`;
  for (const [prefix, name] of [
    ['git', 'second'],
    ['git-alone', 'third'],
  ] as const) {
    const address = `http://127.0.0.1:${port}/${prefix}/demo.git`;
    await t.rejects(git(folder, 'clone', '-q', address, `${name}-refused`), prefix);
    await git(folder, '-c', helper, 'clone', '-q', '-b', 'main', address, name);
    const { stdout } = await git(join(folder, name), 'log', '--format=%s');
    t.equal(stdout.trim(), 'first');
  }
});

t.test('pip, with a key in the address of its index', async (t) => {
  if (!requireProgram(t, 'pip')) return;
  const { port, key } = await start(t);
  const index = `http://ada:${key}@127.0.0.1:${port}/simple/`;
  const options = ['--isolated', '--disable-pip-version-check', '--index-url', index];
  const env = { ...process.env, PIP_CONFIG_FILE: '/dev/null' };
  const { stdout } = await run('pip', ['index', 'versions', 'demo', ...options], { env });
  t.match(stdout, /demo \(1\.2\.3\)/);
});

t.test('npm, with _auth', async (t) => {
  if (!requireProgram(t, 'npm')) return;
  const { port, key, folder, home } = await start(t);
  const registry = `//127.0.0.1:${port}/npm/`;
  mkdirSync(join(folder, 'package'));
  const file = join(folder, 'package', '.npmrc');
  const auth = Buffer.from(`ada:${key}`).toString('base64');
  writeFileSync(file, `registry=http:${registry}\n${registry}:_auth=${auth}\n`);
  const { NODE_OPTIONS: _, ...env } = home as Record<string, string>;
  const args = ['view', 'demo', 'version', '--userconfig', file, '--cache', join(folder, 'cache')];
  const { stdout } = await run('npm', args, { cwd: join(folder, 'package'), env });
  t.equal(stdout.trim(), '1.2.3');
});
