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
  const onTerminal = async (list: string) =>
    (await folder.run([list, 'list'], { input: new PassThrough() })).stdout;
  const keys = await onTerminal('key');
  t.match(
    keys,
    /^ID +LABEL +USER +STATUS +EXPIRES\n[0-9a-f-]{36} +export of every +nightly +active +never$/m,
    'ids stay whole',
  );
  t.match(keys, /^ {4}LAST USED never {2}KEY \w+…$/m);
  t.match(keys, /^ {4}SCOPES apikeys:read apikeys:write audit:read /m, 'no column is lost');
  const audit = await onTerminal('audit');
  t.match(audit, /^TIME +EVENT +OUTCOME +ACTOR +ADDRESS$/m);
  t.match(audit, /^\S+ \S+ {2}login_succeeded +success +ada +127\.0\.0\.1\n {4}TARGET session …[\w-]{6}/m);
  t.match(audit, /^ {4}TARGET api_key …[0-9a-f]{6} "export of every night"/m);
  t.match((await folder.run(['audit', 'list'])).stdout, / api_key [0-9a-f-]{36} "export/, 'whole on a pipe');
  t.match(await onTerminal('session'), /^ {4}EXPIRES .* ADDRESS 127\.0\.0\.1$/m);
  t.match(
    await onTerminal('signing-key'),
    /^KID +PURPOSE +STATUS[ A-Z]*\n\S+ [^\n]*\n {4}ALGORITHM \S+ {2}PUBLISHED /m,
  );
  t.match(
    (await folder.run(['user', 'list'])).stdout,
    /^nightly +service +enabled +never +apikeys:read .*-[0-9a-f]{12}$/m,
  );
  t.match((await folder.run(['session', 'list'])).stdout, /^\S{36} +ada +\S.* \d{4}-\d\d-\d\d \d\d:\d\dZ /m);
});
