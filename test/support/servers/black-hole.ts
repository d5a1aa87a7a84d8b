import { once } from 'node:events';
import { connect } from 'node:net';
import type { TestScope } from '../gateway/gateway.ts';
import { spawnNode } from '../gateway/node-process.ts';

const listener = `
  const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 });
  server.on('listening', () => process.stdout.write(String(server.address().port)));
`;

/** An address where connections are neither accepted nor refused: a stalled listener with a full backlog. */
export async function startBlackHole(t: TestScope): Promise<string> {
  const child = spawnNode(['-e', listener], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = Number((await once(child.stdout!, 'data'))[0]);
  child.kill('SIGSTOP');
  const fillers = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.teardown(() => {
    for (const filler of fillers) filler.destroy();
    child.kill('SIGKILL');
  });
  return `http://127.0.0.1:${port}`;
}
