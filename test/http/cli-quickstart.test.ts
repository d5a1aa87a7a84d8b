import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { parse } from 'yaml';
import { tryOutLines } from '../../src/cli/quickstart-lines.ts';
import { tryOutConfiguration } from '../../src/cli/try-out.ts';
import { createCommandFolder, type ServeProcess } from '../support/command.ts';
import { startRecordingUpstream } from '../support/recording-upstream.ts';
import { navigation } from '../support/web.ts';

const onFreePort = { host: '127.0.0.1', port: 0 };
const quickstart = parse(readFileSync(join(import.meta.dirname, '../../config/quickstart.yaml'), 'utf8'));
const config = {
  ...quickstart,
  listen: onFreePort,
  management: onFreePort,
  stores: { records: 'sqlite:records.db', sessions: 'sqlite:sessions.db' },
  bootstrap: {},
};

/** Runs the shell lines that were printed, and gives the lines they print. */
function runPrinted({ printed }: ServeProcess): Promise<string[]> {
  return runLines(printed().stderr.split('\n'));
}

async function runLines(shown: readonly string[]): Promise<string[]> {
  const script = shown.filter((line) => line.startsWith('  ')).join('\n');
  // An interactive zsh takes # for a command, and ! for its history.
  if (/^\s*#|!/m.test(script)) throw new Error(`can't be pasted into zsh: ${script}`);
  const { stdout } = await promisify(execFile)('sh', ['-euc', script]);
  return stdout.trimEnd().split('\n');
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
  t.match(await runPrinted(serving), [/^\{"id":"[^"]*","username":"admin"\}$/, ...walk]);

  serving.child.kill('SIGTERM');
  await serving.ended;
  const again = await folder.serve(['--quickstart']);
  t.match(again.printed().stderr, `\nOpen it in a browser: http://127.0.0.1:${again.port}/\n`);
  t.notMatch(again.printed().stderr, /bootstrap/, 'somebody is activated already');
  t.match(await runPrinted(again), walk);
});

t.test('a try-out in front of a service, without a file', async (t) => {
  const upstream = await startRecordingUpstream();
  t.teardown(() => upstream.close());
  const tried = parse(tryOutConfiguration(upstream.url));
  t.match(tried, { listen: { host: '127.0.0.1', port: 8080 }, base_url: 'http://127.0.0.1:8080' });
  const folder = createCommandFolder(t, {
    bootstrap: {},
    scopes: {},
    ...tried,
    listen: onFreePort,
    management: onFreePort,
  });
  const { port, printed } = await folder.serve();
  const [, token] = /bootstrap token: (\S+)/.exec(printed().stderr) ?? [];
  const lines = await runLines(tryOutLines(`http://127.0.0.1:${port}`, token ?? null));
  t.match(lines, [/^\{"id":"[^"]*","username":"admin"\}$/, /"code":"not_authenticated"/]);
  t.strictSame(
    upstream.seen.map(({ target }) => target),
    ['/api/'],
    'the service sees the caller who signed in, and nobody else',
  );
  t.strictSame(upstream.seen[0]!.values('x-auth-username'), ['admin']);
});
