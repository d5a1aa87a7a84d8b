import { freePort } from '../machine.ts';
import type { Running } from '../processes.ts';
import { startListening } from './launch.ts';
import { programFile, type Surroundings } from './peer.ts';
import { writeKeys } from './static-keys.ts';

/** The small service that proxies ask about each request. */
export interface KeyService {
  readonly port: number;
  readonly program: Running;
}

/** Starts it, on the proxy's CPU; `name` tells apart those of several peers. */
export async function startKeyService(surroundings: Surroundings, name: string): Promise<KeyService> {
  const keysFile = writeKeys(surroundings, `${name}-keys`, (key) => key);
  const port = await freePort();
  const args = [programFile('key-service'), String(port), keysFile];
  const launch = { name, command: process.execPath, args };
  return { port, program: await startListening(surroundings, launch, port) };
}
