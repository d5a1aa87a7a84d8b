import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { parse } from 'yaml';
import { createCommandFolder, type ServeProcess } from '../support/command.ts';

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
async function runPrinted({ printed }: ServeProcess): Promise<string[]> {
  const shown = printed().stderr.split('\n');
  const script = shown.filter((line) => line.startsWith('  ')).join('\n');
  const { stdout } = await promisify(execFile)('sh', ['-euc', script]);
  return stdout.trimEnd().split('\n');
}

t.test('the lines of --quickstart can be pasted and do what they say', async (t) => {
  const folder = createCommandFolder(t, config);
  const serving = await folder.serve(['--quickstart']);
  t.match(serving.printed().stderr, /\npostern: bootstrap token: \S+\n/);
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
  t.notMatch(again.printed().stderr, /bootstrap/, 'somebody is activated already');
  t.match(await runPrinted(again), walk);
});
