import { writeFileSync } from 'node:fs';
import t from 'tap';
import { stringify } from 'yaml';
import { eventually } from '../support/eventually.ts';
import { createCommandFolder } from '../support/gateway/command.ts';
import { testConfig } from '../support/gateway/gateway.ts';

const input = 'correct horse battery staple\n';
const problem =
  /postern\.yaml:\d+:3: users\.ada: a user of that name exists and is not managed: adopt: true takes it over/;

t.test('a user who exists already stops the start, with line and column', async (t) => {
  const { run, configFile } = createCommandFolder(t);
  t.equal((await run(['user', 'add', 'ada', '--admin'], { input })).code, 0);
  const write = (users: object) =>
    writeFileSync(configFile, stringify(testConfig('builtin:echo', { users })));
  write({ ada: {}, grace: {} });
  t.match(await run(['check']), { code: 0 }, 'the store alone knows');
  const line = (await run(['serve'])).stderr;
  t.match(line, problem);
  t.match(await run(['serve']), { code: 2, stdout: '' });
  t.match(await run(['config', 'apply']), { code: 2, stderr: problem });
  t.equal((await run(['user', 'list', '--json'])).json.length, 1, 'nothing was applied');
  write({ ada: {} });
  t.match(await run(['serve']), { code: 2 });
  write({ grace: { kind: 'service' } });
  const applied = await run(['config', 'apply']);
  t.match(applied, { code: 0, stdout: 'users created: grace\n' });
  t.match(applied.audit, [{ event: 'user_created', actor: { kind: 'configuration' } }]);
});

t.test(
  'a reload that does not fit the records is reported, and the running configuration stays',
  async (t) => {
    const folder = createCommandFolder(t);
    const { run, configFile } = folder;
    await run(['user', 'add', 'ada', '--admin'], { input });
    const { child, printed, api } = await folder.serve();
    const write = (config: object) =>
      writeFileSync(configFile, stringify(testConfig('builtin:echo', config)));
    write({ users: { ada: {} }, routes: [{ prefix: '/', upstream: 'app', public: true }] });
    child.kill('SIGHUP');
    const failed = await eventually('it is reported', () =>
      printed()
        .stdout.split('\n')
        .find((line) => line.includes('config_reload_failed')),
    );
    t.match(JSON.parse(failed).problems, [problem]);
    t.equal((await api.send({ path: '/else' })).status, 404);

    write({ users: { ada: { adopt: true, scope_sets: ['administrator'] } } });
    child.kill('SIGHUP');
    await eventually('it is applied', () => printed().stdout.includes('configuration reloaded'));
    t.match((await run(['user', 'list', '--json'])).json, [{ username: 'ada', managed: true }]);
  },
);
