import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { requireProgram } from '../support/programs.ts';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'examples/systemd');
const unit = readFileSync(join(folder, 'postern.service'), 'utf8');
const yaml = readFileSync(join(folder, 'postern.yaml'), 'utf8');

/** The value of a key of the unit; where it is there several times, the last. */
const settingOf = (key: string) => [...unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].at(-1)?.[1];

function temporaryFolder(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'postern-systemd-'));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Runs systemd-analyze on a unit, with the programs of this checkout. */
function analyze(t: Test, name: string, text: string, ...args: readonly string[]) {
  const units = temporaryFolder(t);
  for (const other of ['postern.service', 'postern-backup.service', 'postern-backup.timer'])
    writeFileSync(
      join(units, other),
      here(other === name ? text : readFileSync(join(folder, other), 'utf8')),
    );
  const { status, stdout, stderr } = spawnSync('systemd-analyze', [...args, join(units, name)], {
    encoding: 'utf8',
  });
  return { status, printed: stdout + stderr };
}

/** A unit as it would be with this checkout in /opt/postern. */
const here = (text: string) =>
  text.replaceAll('/opt/postern/postern', join(root, 'bin/postern.js')).replaceAll('/opt/postern', root);

t.test('systemd takes the unit, and rates it well', async (t) => {
  if (!requireProgram(t, 'systemd-analyze')) return;
  const verified = analyze(t, 'postern.service', unit, 'verify');
  t.strictSame(verified, { status: 0, printed: '' });
  t.match(
    analyze(t, 'postern.service', unit.replace('KillMode=', 'KilMode='), 'verify').printed,
    /KilMode/,
    'it finds mistakes',
  );
  for (const name of ['postern-backup.service', 'postern-backup.timer']) {
    const text = readFileSync(join(folder, name), 'utf8');
    t.strictSame(analyze(t, name, text, 'verify'), { status: 0, printed: '' }, name);
  }
  const security = ['security', '--offline=true', '--no-pager'];
  const rated = analyze(t, 'postern.service', unit, ...security, '--threshold=15');
  t.equal(rated.status, 0, rated.printed);
  const worse = unit.replace('ProtectSystem=strict', '').replace(/^SystemCallFilter=.*$/gm, '');
  t.not(
    analyze(t, 'postern.service', worse, ...security, '--threshold=15').status,
    0,
    'and what is left out',
  );
});

t.test('the configuration fits the unit', async (t) => {
  const secrets = temporaryFolder(t);
  const file = join(secrets, 'postern.yaml');
  writeFileSync(file, yaml);
  const { problems, warnings } = loadConfig(file, {});
  t.strictSame(problems ?? [], []);
  t.strictSame(warnings ?? [], []);
  const { delay, timeout } = parse(readFileSync(join(root, 'config/reference.yaml'), 'utf8')).shutdown;
  t.strictSame([delay, timeout], ['0s', '25s'], 'the defaults, which the file leaves');
  t.ok(Number(settingOf('TimeoutStopSec')) >= 25 + 5, 'a stop has time for requests in flight');
  const state = `/var/lib/${settingOf('StateDirectory')}/`;
  for (const store of ['records', 'sessions'])
    t.ok(parse(yaml).stores[store].startsWith(`sqlite:${state}`), store);
  t.equal(parse(yaml).management, undefined, 'the default, which ExecStartPost asks');
  t.match(settingOf('ExecStartPost'), /\/wait-until-ready 127\.0\.0\.1 9090$/);
});

t.test('the start is over when the gateway is ready, or gone', async (t) => {
  let asked = 0;
  const server = createServer((_request, response) => {
    asked++;
    response.writeHead(asked < 3 ? 503 : 200).end();
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const wait = async (mainPid: number | undefined, target: number) => {
    const child = spawn(join(folder, 'wait-until-ready'), ['127.0.0.1', `${target}`], {
      env: { ...process.env, MAINPID: `${mainPid}` },
      stdio: 'ignore',
    });
    const [code] = await once(child, 'close');
    return code;
  };
  t.equal(await wait(process.pid, port), 0);
  t.equal(asked, 3);
  const gone = spawn('true');
  await once(gone, 'close');
  t.equal(await wait(gone.pid, 1), 1);
});
