import { once } from 'node:events';
import { connect } from 'node:net';
import type { TestScope } from '../gateway/gateway.ts';
import { spawnNode } from '../gateway/node-process.ts';

const listeners = `
  const [port, ...hosts] = process.argv.slice(1);
  let left = hosts.length;
  for (const host of hosts)
    require('node:net').createServer().listen({ port: Number(port), host, backlog: 1 })
      .on('error', (error) => { process.stderr.write(error.message); process.exit(1); })
      .on('listening', () => { if (--left === 0) process.stdout.write('ready'); });
`;

/** Loopback addresses where connections are neither accepted nor refused. */
export interface DeafAddresses {
  /** From now on they accept, which a connection that waits finds out at its next packet: after seconds. */
  wake(): void;
}

/** Makes these addresses deaf: listeners that are stalled, and full. */
export async function deafen(t: TestScope, port: number, hosts: readonly string[]): Promise<DeafAddresses> {
  const child = spawnNode(['-e', listeners, String(port), ...hosts], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout!, 'data');
  child.kill('SIGSTOP');
  const fillers = hosts.flatMap((host) =>
    Array.from({ length: 4 }, () => connect(port, host).on('error', () => {})),
  );
  t.teardown(() => {
    for (const filler of fillers) filler.destroy();
    child.kill('SIGKILL');
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
  return { wake: () => void child.kill('SIGCONT') };
}
