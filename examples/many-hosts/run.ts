import { spawn } from 'node:child_process';
import { randomBytes, scryptSync } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { loadConfig } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/report/problems.ts';
import { applications, installApplications, startApplication } from './applications.ts';

const root = join(import.meta.dirname, '../..');
// What to run; the addresses in it are where everything is.
const file = process.argv[2] ?? join(import.meta.dirname, 'postern.yaml');
const password = randomBytes(9).toString('base64url');
const env = { ...process.env, EXAMPLE_HASH: hashOf(password) };
const { config, problems = [] } = loadConfig(file, env);
if (config === undefined) {
  for (const problem of problems) process.stderr.write(`${formatProblem(file, problem)}\n`);
  process.exit(2);
}

const packages = installApplications(join(root, 'node_modules/.cache/example-hosts'));
const data = join(file, '../data');
const running = Object.entries(config.upstreams).flatMap(([name, { url }]) => {
  const application = applications[name];
  if (application === undefined || url.kind !== 'server') return [];
  return [startApplication(application, { folder: join(data, name), packages, port: url.port })];
});

const gateway = spawn(process.execPath, [join(root, 'src/main.ts'), 'serve', '--config', file], {
  stdio: ['ignore', 'inherit', 'pipe'],
  env,
});
const ended = once(gateway, 'exit');
// The terminal sends it to the others too, and this process ends with the gateway.
process.on('SIGINT', () => {});
process.once('SIGTERM', () => gateway.kill());

const users = Object.keys(config.users).join(' or ');
const hosts = (config.hosts ?? []).map((host) => `  ${host}`).join('\n');
const invitation = `
One sign-in for:
${hosts}
Open one of them and sign in as ${users}, with the password ${password}; then open another.
Chromium and Firefox find these names by themselves. Ctrl-C ends it.
`;
for await (const line of createInterface(gateway.stderr)) {
  process.stderr.write(`${line}\n`);
  if (line.includes('listening on')) process.stdout.write(invitation);
}
[process.exitCode] = await ended;
for (const application of running) application.kill();

/** Hash of a password in the PHC string format (scrypt, RFC 7914). */
function hashOf(secret: string): string {
  const [salt, cost] = [randomBytes(16), 14];
  const digest = scryptSync(secret, salt, 32, { N: 2 ** cost, r: 8, p: 1 });
  const encoded = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
  return `$scrypt$ln=${cost},r=8,p=1$${encoded(salt)}$${encoded(digest)}`;
}
