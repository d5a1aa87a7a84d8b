import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { requireListeners } from '../listeners.ts';
import { type Program, type Running, tail } from '../processes.ts';
import { processesOf } from '../usage.ts';
import type { Credentials, RunningPeer, Surroundings } from './peer.ts';

const readyTimeoutMs = 20_000;

/**
 * Starts a program on the proxy's CPU and waits until `port` accepts; rejects with what it wrote when it does not, and
 * if another process does.
 */
export async function startListening(
  { processes, cpu }: Surroundings,
  program: Omit<Program, 'cpu'>,
  port: number,
): Promise<Running> {
  const running = processes.start({ ...program, cpu });
  let exit: number | null | undefined;
  void running.exited.then((code) => {
    exit = code;
  });
  const deadline = Date.now() + readyTimeoutMs;
  while (!(await accepts(port))) {
    if (exit !== undefined) throw new Error(`${program.name} exited with ${exit}: ${tail(running)}`);
    if (Date.now() > deadline) throw new Error(`${program.name} does not listen: ${tail(running)}`);
    await sleep(20);
  }
  requireListeners(port, processesOf([running.pid]));
  return running;
}

/** A peer made of the proxy itself and of what it asks, whose processes are all counted. */
export function asPeer(
  { processes }: Surroundings,
  port: number,
  credentials: Credentials,
  [proxy, ...asked]: readonly [Running, ...Running[]],
): RunningPeer {
  let running = proxy;
  const all = () => [running, ...asked];
  return {
    port,
    credentials,
    pids: () => processesOf(all().map(({ pid }) => pid)),
    async restart() {
      await running.stop();
      const at = performance.now();
      running = processes.start(running.program);
      return at;
    },
    async stop() {
      await Promise.all(all().map((program) => program.stop()));
    },
  };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
