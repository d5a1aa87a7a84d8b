import t from 'tap';
import { createCommandFolder } from '../support/gateway/command.ts';
import { bootstrapToken } from '../support/gateway/gateway.ts';

const password = 'correct horse battery staple';
const made = /^[\w-]{32}\n$/;

t.test('the token that serve prints is the one of bootstrap-token, and activates', async (t) => {
  const folder = createCommandFolder(t, { bootstrap: {} });
  const { stdout } = await folder.run(['bootstrap-token', '--create']);
  t.match(stdout, made);
  t.equal((await folder.run(['bootstrap-token'])).stdout, stdout, 'the same one each time');
  const { api, printed } = await folder.serve();
  t.match(printed().stderr.split('\n'), [/listening/, `postern: bootstrap token: ${stdout.trimEnd()}`]);
  t.equal((await api.activate('ada', password, stdout.trimEnd())).status, 201);

  const closed = await folder.run(['bootstrap-token']);
  t.match(closed, { code: 1, stdout: '', stderr: /^postern: there is an administrator.*--reset.*\n$/ });
});

t.test('a configured token is printed until a reset makes another', async (t) => {
  const folder = createCommandFolder(t);
  t.equal((await folder.run(['bootstrap-token', '--create'])).stdout, `${bootstrapToken}\n`);
  t.same((await folder.run(['bootstrap-token', '--json'])).json, { token: bootstrapToken });
  const reset = await folder.run(['bootstrap-token', '--reset']);
  t.match(reset.stdout, made);
  t.equal((await folder.run(['bootstrap-token'])).stdout, reset.stdout);
});

t.test('a reset opens activation again at the running gateway', async (t) => {
  const folder = createCommandFolder(t);
  const { api } = await folder.serve();
  await api.activate('ada', password, bootstrapToken);
  t.equal((await api.activate('bob', password, bootstrapToken)).status, 409);
  const { stdout, stderr, audit } = await folder.run(['bootstrap-token', '--reset']);
  const token = stdout.trimEnd();
  t.notMatch(stderr, token);
  t.match(audit, [{ event: 'bootstrap_token_reset', actor: { kind: 'command_line' }, subject: null }]);
  t.equal((await api.activate('bob', password, bootstrapToken)).status, 401);
  t.equal((await api.activate('bob', password, token)).status, 201);
  t.equal((await api.activate('eve', password, token)).status, 409);
});

t.test('an administrator made on the command line closes activation, no other user does', async (t) => {
  const folder = createCommandFolder(t);
  const { api } = await folder.serve();
  await folder.run(['user', 'add', 'nightly', '--service']);
  await folder.run(['user', 'add', 'grace'], { input: password });
  t.equal((await folder.run(['bootstrap-token'])).stdout, `${bootstrapToken}\n`);
  t.equal((await folder.run(['user', 'add', 'ada', '--admin'], { input: password })).code, 0);
  t.equal((await api.activate('bob', password, bootstrapToken)).status, 409);
  t.equal((await folder.run(['bootstrap-token'])).code, 1);
});

t.test('where the upstream answers activation there is no token', async (t) => {
  const folder = createCommandFolder(t, { endpoints: { bootstrap: 'upstream' } });
  t.match(await folder.run(['bootstrap-token', '--create']), {
    code: 1,
    stdout: '',
    stderr: /endpoints\.bootstrap/,
  });
});
