import type { AddressInfo } from 'node:net';
import type { Config } from '../config/schema.ts';
import type { RunningGateway } from '../gateway/running-gateway.ts';
import { startGateway } from '../gateway/start.ts';
import { createLog, type Log } from '../log/log.ts';
import { type Call, Failure } from './command.ts';
import { readConfig, requireServableConfig } from './configuration.ts';
import { collectGarbageOnceIdle } from './idle-garbage.ts';
import { quickstartLines } from './quickstart-lines.ts';
import { fileFailureOf, logWarnings, watchConfiguration } from './reload.ts';

/** `serve`: runs the gateway until `stopAsked` resolves, then drains it; one that is still starting just ends. */
export async function serve(call: Call, stopAsked: Promise<void>): Promise<void> {
  const read = readConfig(call);
  const config = requireServableConfig(read);
  const log = createLog({ ...config.log, isTerminal: call.terminal.stdout.isTTY });
  exitOnUncaught(call, log);
  logWarnings(read, log);
  const reloads = watchConfiguration(call, read, log);
  const gateway = await Promise.race([start(config, log), stopAsked]);
  if (gateway === undefined) return;
  reloads.begin(gateway);
  collectGarbageOnceIdle();
  call.terminal.stderr.write(`${announcement(call, config, gateway).join('\n')}\n`);
  await stopAsked;
  await gateway.stop();
}

/** After an error that nobody expected nothing can be said about the state of a gateway: it must not go on. */
function exitOnUncaught({ terminal }: Call, log: Log): void {
  terminal.on('uncaughtException', (error, origin) => {
    log.error('unexpected error, stopping', { err: error, origin });
    log.flush();
    terminal.exit(1);
  });
}

async function start(config: Config, log: Log): Promise<RunningGateway> {
  try {
    return await startGateway(config, log);
  } catch (error) {
    throw asListenFailure(error) ?? asFileFailure(error) ?? error;
  }
}

const listenReasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the address is in use',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'permission denied',
  ENOTFOUND: 'no such host',
};

function asFileFailure(error: unknown): Failure | undefined {
  const sentence = fileFailureOf(error);
  return sentence === undefined ? undefined : new Failure('configuration', `postern: ${sentence}`, error);
}

/** What Node says when an address can't be listened on, as a sentence; undefined for anything else. */
function asListenFailure(error: unknown): Failure | undefined {
  const { code = '', syscall, address, port } = error as NodeJS.ErrnoException & Partial<AddressInfo>;
  if (syscall !== 'listen' && syscall !== 'getaddrinfo') return undefined;
  const location =
    address === undefined ? 'listen' : `listen on ${hostAndPort({ address, port: port ?? 0 })}`;
  return new Failure('failed', `can't ${location}: ${listenReasons[code] ?? code}`, error);
}

function announcement(call: Call, config: Config, gateway: RunningGateway): string[] {
  const { address, managementAddress, bootstrapToken } = gateway;
  const url = `${config.listen.tls === undefined ? 'http' : 'https'}://${hostAndPort(address)}`;
  return [
    `postern: listening on ${url}, management on http://${hostAndPort(managementAddress)}`,
    ...(bootstrapToken === null ? [] : [`postern: bootstrap token: ${bootstrapToken}`]),
    ...(call.isSet('quickstart') ? quickstartLines(url, bootstrapToken) : []),
  ];
}

function hostAndPort({ address, port }: Pick<AddressInfo, 'address' | 'port'>): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
