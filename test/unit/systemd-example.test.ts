import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

t.test("the command takes neither root's environment nor root's terminal along", async (t) => {
  if (process.getuid?.() !== 0) {
    t.pass('needs root', { skip: 'only root may run programs as someone else' });
    return;
  }
  const own = temporaryFolder(t);
  const program = join(own, 'program');
  const command = join(own, 'postern');
  const text = readFileSync(join(folder, 'postern'), 'utf8')
    .replaceAll('/etc/postern', own)
    .replaceAll('/opt/postern/postern', program)
    .replaceAll('-u postern', '-u nobody');
  writeFileSync(command, text);
  const terminal = 'tty; (: </dev/tty) 2>/dev/null && echo controlling';
  writeFileSync(program, `#!/bin/sh\nid -un; pwd; env; echo "$@"; ${terminal}; exit 7\n`);
  for (const path of [own, command, program]) chmodSync(path, 0o755);
  const env = {
    PATH: process.env.PATH,
    TZ: 'UTC',
    POSTERN_CONFIG: 'other.yaml',
    CLOUD_TOKEN: 'root only\nexport PATH=/nowhere',
    SSH_AUTH_SOCK: '/run/agent',
  };
  const piped = spawnSync(command, ['user', 'list'], { encoding: 'utf8', env });
  t.match(piped, { status: 7, stdout: /^nobody\n.*\nuser list\nnot a tty\n$/s });
  t.match(piped.stdout, `\n${own}\n`);
  for (const kept of [`PATH=${env.PATH}`, 'TZ=UTC', 'POSTERN_CONFIG=other.yaml'])
    t.match(piped.stdout, `\n${kept}\n`);
  t.notMatch(piped.stdout, /root only|CLOUD_TOKEN|SSH_AUTH_SOCK|nowhere/);

  const onTerminal = (line: string) =>
    spawnSync('script', ['--quiet', '--return', '--command', line, '/dev/null'], {
      encoding: 'utf8',
      env,
      input: '',
    });
  const [outer, ...shown] = onTerminal(`tty; ${command}`).stdout.trim().split('\r\n');
  t.match(outer, /^\/dev\/pts\//);
  const [inner, controlling] = shown.slice(-2);
  t.match(inner, /^\/dev\/pts\//);
  t.not(inner, outer, 'a terminal of its own');
  t.equal(controlling, 'controlling');
  const file = join(own, 'printed');
  t.equal(onTerminal(`${command} >${file}`).status, 7);
  t.notMatch(readFileSync(file, 'utf8'), 'controlling', 'none where the output goes to a file');
});
