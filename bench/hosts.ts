import { parseArgs } from 'node:util';
import { loadPeer, measure } from './measure.ts';
import type { Peer } from './peers/peer.ts';
import { posternBrowser, posternHost, posternKey, posternKeyHost } from './peers/postern.ts';
import { createStage } from './stage.ts';

// What a route by host costs a request, and a host cookie, each beside its like without `hosts`, in turns: prints the CPU time
// of each round, and the least, in microseconds a request.
//
// node bench/hosts.ts [--rounds 6] [--seconds 5]

const pairs: readonly (readonly [Peer, Peer])[] = [
  [posternKey, posternKeyHost],
  [posternBrowser, posternHost],
];

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '6' }, seconds: { type: 'string', default: '5' } },
});
const seconds = Number(values.seconds);
const spent = new Map<string, number[]>();

for (let round = 0; round < Number(values.rounds); round += 1)
  for (const pair of pairs)
    for (const peer of round % 2 === 0 ? pair : pair.toReversed()) {
      const rounds = spent.get(peer.name) ?? [];
      spent.set(peer.name, rounds);
      rounds.push(await costOf(peer));
    }
for (const [name, rounds] of spent) {
  const texts = rounds.map((one) => one.toFixed(1)).join(' ');
  process.stdout.write(`${name.padEnd(20)} least ${Math.min(...rounds).toFixed(1)} of ${texts}\n`);
}

async function costOf(peer: Peer): Promise<number> {
  const stage = await createStage(64, 'upstream');
  try {
    const running = await stage.start(peer);
    await loadPeer(running, stage.settings, seconds);
    const { cpuMicrosecondsPerRequest } = await measure(running, stage.settings, seconds);
    await running.stop();
    return cpuMicrosecondsPerRequest;
  } finally {
    stage.clear();
  }
}
