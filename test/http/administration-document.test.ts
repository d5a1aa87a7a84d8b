import { readFileSync } from 'node:fs';
import t from 'tap';
import { administrator, bootstrapToken, startTestGateway } from '../support/gateway/gateway.ts';
import { consoleSteps, isAsShown, runConsole } from '../support/pages/console-document.ts';

const url = 'http://127.0.0.1:8080';
const file = new URL('../../docs/administration.md', import.meta.url);

t.test('the administrator’s day in docs/administration.md goes as it is shown there', async (t) => {
  const gateway = await startTestGateway(t, {
    config: { endpoints: { users: 'own' }, login_throttle: { per_account_and_address: 10 } },
  });
  await gateway.api.activate(administrator.username, administrator.password, bootstrapToken);
  const shown = consoleSteps(readFileSync(file, 'utf8'));
  t.ok(shown.length > 20);
  const steps = shown.map((step) => ({
    ...step,
    command: step.command.replace(url, `http://127.0.0.1:${gateway.port}`),
  }));
  const printed = await runConsole(steps, { ...process.env, LC_ALL: 'C.UTF-8' });
  t.equal(printed.length, steps.length, 'every command was run');
  for (const [index, { command, expected }] of steps.entries()) {
    const lines = printed[index] ?? [];
    t.equal(lines.length, expected.length, command);
    for (const [at, line] of lines.entries())
      t.ok(isAsShown(expected[at] ?? '', line), `${command}\n${line}`);
  }
});
