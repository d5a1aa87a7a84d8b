import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startApplication } from './application.ts';
import { fromPyPI, fromPyPILater } from './installed.ts';
import { makeWheel } from './wheel.ts';

t.setTimeout(300_000);

t.test('devpi: its client signs in to it, publishes, and pip installs', async (t) => {
  const devpi = (name: string) => fromPyPILater('devpi', name);
  const application = await startApplication(t, {
    recipe: 'devpi',
    needs: [devpi('devpi'), devpi('devpi-server'), fromPyPI('pip')],
    readyPath: '/+status',
    readyMilliseconds: 240_000,
    command: ({ port }) => [
      'sh',
      '-c',
      '"$0-init" --serverdir data --no-root-pypi && exec "$0-server" --serverdir data --offline-mode --host 127.0.0.1 --port "$1"',
      devpi('devpi'),
      `${port}`,
    ],
  });
  if (application === null) return;
  const { origin, run, clients } = application;
  const succeed = async (...command: readonly [string, ...string[]]) => {
    const { code, printed } = await run(command);
    t.equal(code, 0, printed);
  };
  await succeed(fromPyPI('python'), '-c', makeWheel);
  await succeed(devpi('devpi'), 'use', origin);
  t.match(await run([devpi('devpi'), 'login', 'root', '--password', 'guessed']), {
    code: 1,
    printed: /could not be authenticated/,
  });
  await succeed(devpi('devpi'), 'login', 'root', '--password', '');
  await succeed(devpi('devpi'), 'index', '-c', 'root/dev', 'bases=');
  await succeed(devpi('devpi'), 'use', 'root/dev');
  await succeed(devpi('devpi'), 'upload', 'tool-1.0-py3-none-any.whl');
  t.match(application.sent(), /^x-devpi-auth: /im);
  const index = `${origin}/root/dev/+simple/`;
  await succeed(
    fromPyPI('pip'),
    'install',
    '--no-cache-dir',
    '--target',
    'site',
    '--index-url',
    index,
    'tool',
  );
  t.equal(readFileSync(join(clients, 'site/tool.py'), 'utf8'), 'answer = 42\n');
});
