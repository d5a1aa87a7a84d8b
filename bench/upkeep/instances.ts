import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { firstSuccess } from '../first-success.ts';
import type { RunningPeer } from '../peers/peer.ts';
import { createPosternPeer } from '../peers/postern.ts';
import { createKey } from '../peers/postern-credentials.ts';
import type { Stage } from '../stage.ts';
import { rateBetween, readActivity, readMemory } from './reading.ts';
import type { UpkeepSettings } from './settings.ts';

/** Many instances of Postern on one machine. */
export interface SideBySide {
  readonly instances: number;
  /** `Pss` of all: what processes share counts once. */
  readonly proportionalMiB: number;
  readonly privateMiB: number;
  /** CPUs in use, all together. */
  readonly cpus: number;
}

/**
 * Starts Postern as shipped so many times, each with stores and ports of its own, and sends each a request a second; undefined
 * if it isn't built. Rejects when a request fails.
 */
export async function measureInstances(
  stage: Stage,
  { instances, idleSeconds, loadSeconds }: UpkeepSettings,
  say: (line: string) => void,
): Promise<SideBySide | undefined> {
  const running: RunningPeer[] = [];
  try {
    for (let index = 1; index <= instances; index += 1) {
      const peer = createPosternPeer({
        name: `postern-instance-${index}`,
        description: 'one of many',
        createCredentials: createKey,
        isShipped: true,
        isPinned: false,
      });
      if (peer.version() === undefined) return undefined;
      running.push(await startAfresh(stage, peer));
      if (index % 10 === 0) say(`${index} of ${instances} instances run`);
    }
    const load = askEachOnceASecond(running);
    try {
      // Until the last one has been idle as long as any row.
      await sleep(idleSeconds * 1_000);
      const pids = running.flatMap((each) => each.pids());
      const from = readActivity(pids);
      await sleep(loadSeconds * 1_000);
      const { cpuMsPerSecond } = rateBetween(from, readActivity(pids));
      load.check();
      return { instances, ...readMemory(pids), cpus: cpuMsPerSecond / 1_000 };
    } finally {
      load.stop();
    }
  } finally {
    await Promise.all(running.map((each) => each.stop()));
  }
}

async function startAfresh(stage: Stage, peer: ReturnType<typeof createPosternPeer>): Promise<RunningPeer> {
  const running = await stage.start(peer);
  await running.restart();
  await firstSuccess(running);
  return running;
}

/** Asks one after the other, at even intervals, each over a connection that it keeps. */
function askEachOnceASecond(all: readonly RunningPeer[]) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let next = 0;
  let failure: string | undefined;
  let succeeded = 0;
  const timer = setInterval(() => {
    const { port, credentials } = all[next % all.length]!;
    next += 1;
    const headers = { [credentials.header]: credentials.values[0] ?? '' };
    get({ host: '127.0.0.1', port, path: '/api/store/item', headers, agent }, (response) => {
      if (response.statusCode === 200) succeeded += 1;
      else failure = `an instance responded ${response.statusCode}`;
      response.resume();
    }).on('error', (error) => {
      failure = error.message;
    });
  }, 1_000 / all.length);
  return {
    /** Throws if a request failed, or none succeeded. */
    check() {
      if (failure !== undefined || succeeded === 0) throw new Error(failure ?? 'no instance responded');
    },
    stop() {
      clearInterval(timer);
      agent.destroy();
    },
  };
}
