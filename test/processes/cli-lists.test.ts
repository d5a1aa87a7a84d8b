import { PassThrough } from 'node:stream';
import t from 'tap';
import { createCommandFolder } from '../support/gateway/command.ts';

const input = 'correct horse battery staple\n';
const everyScope =
  'apikeys:read apikeys:write audit:read scopesets:read sessions:read sessions:write users:read';

t.test('every list fits a terminal of 80 columns, and is whole on a pipe', async (t) => {
  const folder = createCommandFolder(t);
  const { api } = await folder.serve();
  await folder.run(['user', 'add', 'ada', '--admin'], { input });
  await folder.run(['user', 'add', 'nightly', '--service', '--scopes', everyScope]);
  await folder.run([
    'scope-set',
    'add',
    'everything',
    '--scopes',
    everyScope,
    '--description',
    'May do '.repeat(9),
  ]);
  await folder.run([
    'key',
    'create',
    '--user',
    'nightly',
    '--label',
    'export of every night',
    '--scopes',
    everyScope,
  ]);
  await api.signIn('ada', input.trimEnd());

  for (const list of ['user', 'session', 'scope-set', 'key', 'signing-key', 'audit']) {
    const shown = await folder.run([list, 'list'], { input: new PassThrough() });
    const lines = shown.stdout.trimEnd().split('\n');
    t.strictSame(
      lines.filter((line) => line.length > 80),
      [],
      list,
    );
    t.ok(lines.length > 1, list);
    const piped = (await folder.run([list, 'list'])).stdout;
    t.notMatch(piped, /Left out here/, list);
    t.equal(
      new Set(
        piped
          .split('\n')
          .slice(1, -1)
          .map((line) => line === ''),
      ).has(true),
      false,
    );
  }
  const keys = (await folder.run(['key', 'list'], { input: new PassThrough() })).stdout;
  t.match(keys, /^ID +LABEL +USER +STATUS +SCOPES$/m, 'what a key may do is left out last');
  t.match(
    (await folder.run(['user', 'list'])).stdout,
    /^nightly +service +enabled +never +apikeys:read .*-[0-9a-f]{12}$/m,
  );
  t.match((await folder.run(['session', 'list'])).stdout, /^\S{36} +ada +\S.* \d{4}-\d\d-\d\d \d\d:\d\dZ /m);
});
