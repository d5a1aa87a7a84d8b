import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../machine.ts';
import type { Running } from '../processes.ts';
import { startListening } from './launch.ts';
import type { Credentials, Surroundings } from './peer.ts';
import { mainFile } from './postern.ts';
import { bootstrapToken, createKeys } from './postern-credentials.ts';

/** How a proxy asks. */
export type DecisionMode = 'nginx' | 'envoy' | 'envoy_grpc';

/** A Postern that other proxies ask, with 1,000 API keys. */
export interface Deciding {
  readonly postern: Running;
  /** Where it is asked. */
  readonly port: number;
  readonly credentials: Credentials;
}

/** Starts it, on the proxy's CPU. */
export async function startDeciding(
  surroundings: Surroundings,
  name: string,
  mode: DecisionMode,
): Promise<Deciding> {
  const [port, publicPort, managementPort] = [await freePort(), await freePort(), await freePort()];
  const file = join(surroundings.directory, `${name}.yaml`);
  writeFileSync(file, configuration(name, mode, { port, publicPort, managementPort }));
  const args = [...surroundings.nodeArguments, mainFile, 'serve', '--config', file];
  const postern = await startListening(surroundings, { name, command: process.execPath, args }, port);
  return { postern, port, credentials: await createKeys(`http://127.0.0.1:${publicPort}`) };
}

interface Ports {
  readonly port: number;
  readonly publicPort: number;
  readonly managementPort: number;
}

function configuration(
  name: string,
  mode: DecisionMode,
  { port, publicPort, managementPort }: Ports,
): string {
  return `
tenant: bench
base_url: http://127.0.0.1:${publicPort}
listen: { host: 127.0.0.1, port: ${publicPort} }
management: { host: 127.0.0.1, port: ${managementPort} }
stores:
  records: sqlite:${name}-records.db
  sessions: sqlite:${name}-sessions.db
passwords: { memory: 1MiB, iterations: 1 }
bootstrap: { token: ${bootstrapToken} }
scopes: { 'store:read': Read assets }
forward_auth: [ { mode: ${mode}, port: ${port} } ]
routes:
  - { prefix: /api, upstream: none, scopes: { read: ['store:read'], write: ['store:read'] } }
log: { level: info }
`;
}
