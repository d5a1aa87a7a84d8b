import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { loadConfig } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/report/problems.ts';
import { startPage } from './page.ts';
import type * as ProviderModule from './provider.ts';

/** The provider, which the packages for development bring; ends the process with a sentence if they are missing. */
async function loadProvider(): Promise<typeof ProviderModule> {
  try {
    return await import('./provider.ts');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    process.stderr.write('The example needs the packages for development, its provider among them: npm ci\n');
    process.exit(1);
  }
}

const { accounts, startLocalProvider } = await loadProvider();
// What to run; the addresses in it are where everything is.
const file = process.argv[2] ?? join(import.meta.dirname, 'postern.yaml');
const { config, problems = [] } = loadConfig(file, process.env);
if (config === undefined) {
  for (const problem of problems) process.stderr.write(`${formatProblem(file, problem)}\n`);
  process.exit(2);
}

const { issuer, redirect_uri: redirectUri = '' } = config.identity_providers.idp!;
const gatewayAddress = `http://${config.listen.host}:${config.listen.port}`;
const invitation = `
The provider is ${issuer}, the gateway ${gatewayAddress}.
Open ${new URL('/', redirectUri)} and sign in as ${Object.keys(accounts).join(' or ')}, with any password.
Ctrl-C ends it.
`;

const servers = [
  await startLocalProvider({ issuer, redirectUri }),
  await startPage(redirectUri, gatewayAddress),
];
const main = join(import.meta.dirname, '../../src/main.ts');
const gateway = spawn(process.execPath, [main, 'serve', '--config', file], {
  stdio: ['ignore', 'inherit', 'pipe'],
});
const ended = once(gateway, 'exit');
// The terminal sends it to the gateway too, and this process ends with the gateway.
process.on('SIGINT', () => {});
process.once('SIGTERM', () => gateway.kill());

for await (const line of createInterface(gateway.stderr)) {
  process.stderr.write(`${line}\n`);
  if (line.includes('listening on')) process.stdout.write(invitation);
}
[process.exitCode] = await ended;
for (const server of servers) {
  server.close();
  server.closeAllConnections();
}
