import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

// Which Node an old one hands over to: test/processes/old-node.test.ts has a real old one, this Node only says that it is old.
const folder = realpathSync(makeTemporaryFolder('postern-hand-over-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const name = `node-${process.platform}-${process.arch}`;
const gateway = join(folder, 'lib/node_modules/@postern/gateway');
cpSync('bin', join(gateway, 'bin'), { recursive: true });

/** Puts a package with a Node there that prints its own path. */
function putNode(packages: string): string {
  const file = join(packages, name, 'bin/node');
  mkdirSync(join(packages, name, 'bin'), { recursive: true });
  writeFileSync(join(packages, name, 'package.json'), JSON.stringify({ name, version: '24.0.0' }));
  writeFileSync(file, '#!/bin/sh\nprintf %s "$0"\n', { mode: 0o755 });
  return file;
}

function handOver() {
  const old = `Object.defineProperty(process.versions, 'node', { value: '20.0.0' });
    require('${gateway}/bin/hand-over.cjs').handOver('program')`;
  const env = { PATH: process.env.PATH, HOME: join(folder, 'home'), NODE_PATH: join(folder, 'global') };
  return spawnSync(process.execPath, ['-e', old], { encoding: 'utf8', env });
}

t.test('the Node of the packages is found beside or above, and nowhere else', async (t) => {
  for (const global of ['home/.node_modules', 'home/.node_libraries', 'global'])
    putNode(join(folder, global));
  t.match(handOver(), { status: 1, stdout: '', stderr: /22\.19 or later is needed/ });
  const hoisted = putNode(join(folder, 'lib/node_modules'));
  t.match(handOver(), { status: 0, stdout: hoisted });
  const own = putNode(join(gateway, 'node_modules'));
  t.match(handOver(), { status: 0, stdout: own });
});
