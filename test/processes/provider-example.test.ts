import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { guardProcess } from '../support/gateway/guarded-process.ts';
import { spawnNode } from '../support/gateway/node-process.ts';
import { guessPort } from '../support/servers/loopback-port.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '../..');
const example = join(root, 'examples/identity-provider');

function temporaryFolder(t: Test): string {
  const folder = makeTemporaryFolder('postern-example-');
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

t.test('without the packages for development the example says what it needs', async (t) => {
  const folder = temporaryFolder(t);
  cpSync(example, join(folder, 'examples/identity-provider'), { recursive: true });
  symlinkSync(join(root, 'src'), join(folder, 'src'));
  const { NODE_OPTIONS: _, ...env } = process.env;
  const { status, stderr } = spawnSync(
    process.execPath,
    [join(folder, 'examples/identity-provider/run.ts')],
    { cwd: folder, env, encoding: 'utf8' },
  );
  t.equal(status, 1);
  t.equal(stderr, 'The example needs the packages for development, its provider among them: npm ci\n');
});

t.test('the example starts without a warning', async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'postern.yaml');
  const first = guessPort();
  const ports = ['8080', '9090', '3000', '4000'];
  const text = readFileSync(join(example, 'postern.yaml'), 'utf8');
  writeFileSync(
    file,
    text.replace(/8080|9090|3000|4000/g, (port) => `${first + ports.indexOf(port)}`),
  );
  const child = spawnNode([join(example, 'run.ts'), file]);
  guardProcess(child);
  let printed = '';
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (chunk) => {
      printed += chunk;
    });
  while (!printed.includes('Ctrl-C ends it.') && child.exitCode === null)
    await Promise.race([once(child.stdout!, 'data'), once(child, 'exit')]);
  const ended = once(child, 'close');
  child.kill();
  await ended;
  t.match(printed, /Open \S+ and sign in as alice or bob, with any password\./);
  t.notMatch(printed, /warn/i);
  t.equal(printed.trim().split('\n').length, 5, printed);
});
