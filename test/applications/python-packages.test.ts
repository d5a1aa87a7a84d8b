import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startApplication } from './application.ts';
import { fromPyPI } from './installed.ts';
import { makeWheel } from './wheel.ts';

t.setTimeout(300_000);

t.test('pypiserver: twine publishes and pip installs, each with a key as its password', async (t) => {
  let packages = '';
  const application = await startApplication(t, {
    recipe: 'Python packages',
    needs: ['pypi-server', 'twine', 'pip'].map(fromPyPI),
    command({ folder, port }) {
      packages = join(folder, 'packages');
      mkdirSync(packages);
      return [
        fromPyPI('pypi-server'),
        'run',
        '-i',
        '127.0.0.1',
        '-p',
        `${port}`,
        '-a',
        '.',
        '-P',
        '.',
        packages,
      ];
    },
  });
  if (application === null) return;
  const { origin, key, run, clients, mintKey } = application;
  t.match(await run([fromPyPI('python'), '-c', makeWheel]), { code: 0 });
  const upload = (password: string) =>
    run(
      [
        fromPyPI('twine'),
        'upload',
        '--non-interactive',
        '--repository-url',
        `${origin}/`,
        'tool-1.0-py3-none-any.whl',
      ],
      {
        env: { TWINE_USERNAME: 'any', TWINE_PASSWORD: password },
      },
    );
  const reader = await mintKey(['packages:read']);
  t.match(await upload(reader), { code: 1, printed: /403/ }, 'a key to install with does not publish');
  t.strictSame(readdirSync(packages), []);
  const uploaded = await upload(key);
  t.equal(uploaded.code, 0, uploaded.printed);
  t.strictSame(readdirSync(packages), ['tool-1.0-py3-none-any.whl']);

  const install = (index: string) =>
    run([fromPyPI('pip'), 'install', '--no-cache-dir', '--target', 'site', '--index-url', index, 'tool']);
  const authority = (password: string) => `${origin.replace('//', `//any:${password}@`)}/simple/`;
  t.match(await install(authority('guessed')), { code: 1, printed: /401/ });
  const installed = await install(authority(reader));
  t.equal(installed.code, 0, installed.printed);
  t.equal(readFileSync(join(clients, 'site/tool.py'), 'utf8'), 'answer = 42\n');
  // Names and passwords of a file, which pip sends at once, too.
  writeFileSync(join(clients, '.netrc'), `machine 127.0.0.1\nlogin any\npassword ${reader}\n`, {
    mode: 0o600,
  });
  t.match(
    await run([fromPyPI('pip'), 'download', '--no-cache-dir', '--index-url', `${origin}/simple/`, 'tool']),
    { code: 0 },
  );
});
