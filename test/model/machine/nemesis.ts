import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom, type Random } from '../../support/corpora/random.ts';
import { ClockSteps } from '../promises/clock-error.ts';
import type { Disturbances, Disturbed } from '../promises/disturbances.ts';
import type { Instant } from '../promises/register.ts';
import type { Arrangement, StoreClock, StoreFault } from './arrangements.ts';
import type { ClockMaker } from './clock.ts';
import { createDeck } from './deck.ts';
import type { ModelGateway } from './gateway.ts';
import { roundingMs, skewsMs } from './skews.ts';

/** By how much a clock is set, ms: tokens are taken 60 s early, and none expires in that time. */
const stepsMs = [150, 400, 1_000, 2_500, 6_000, 12_000, 25_000];
const longestMs = 5_000;

/** What goes wrong in a run. */
export interface Nemesis {
  /** Ends when everything is well again. */
  readonly done: Promise<void>;
  /** Every fault there can be, by the beginning of its name in a history. */
  readonly kinds: readonly string[];
  stop(): void;
  /** By how much the clock of a session may have been wrong from the one instant to the other ({@link ClockSteps.error}). */
  readonly clockError: ClockSteps['error'];
  /** Whether the session store has kept everything that it acknowledged in that time. */
  isKept(from: Instant, to: Instant): boolean;
}

interface Stage {
  readonly gateways: readonly ModelGateway[];
  readonly arrangement: Arrangement;
  readonly disturbances: Disturbances;
  readonly clocks: ClockMaker;
  readonly now: () => Instant;
  /** Longest pause between two faults, ms. */
  readonly pauseMs: number;
  /** Which faults there are, by what they are called. */
  readonly pattern: RegExp;
}

/** A fault, and how it is done; the numbers are its own. */
interface Fault {
  readonly kind: string;
  run(random: Random): Promise<void>;
}

/**
 * Two sequences of faults by that seed: one of gateways, one of stores and of clocks; they overlap as they like. Each has
 * every fault once before it has one twice.
 */
export function startNemesis(seed: number, stage: Stage): Nemesis {
  const { gateways, arrangement, disturbances, now } = stage;
  const isByGateways = arrangement.sessionClock === 'gateways';
  const steps = new ClockSteps(isByGateways && gateways.length > 1 ? 2 * skewsMs.gateways : roundingMs);
  const losses: { from: Instant; to: Instant }[] = [];
  let isStopping = false;

  async function lane(random: Random, all: readonly Fault[]): Promise<void> {
    const faults = all.filter(({ kind }) => stage.pattern.test(kind));
    const deck = createDeck(random, faults);
    while (!isStopping && faults.length > 0) {
      const endMs = now() + 300 + random.below(stage.pauseMs);
      const own = createRandom(random.below(2 ** 30), seed);
      const fault = deck.draw();
      while (now() < endMs && !isStopping) await sleep(50);
      if (!isStopping) await fault.run(own);
    }
  }

  function gatewayFault(gateway: ModelGateway, isKill: boolean): Fault {
    const kindOf = ({ index }: ModelGateway) => `gateway ${index} is ${isKill ? 'killed' : 'paused'}`;
    async function disturb(one: ModelGateway, durationMs: number): Promise<void> {
      const disturbed: readonly Disturbed[] = [`gateway ${one.index}`, ...(isKill ? [] : ['locks' as const])];
      const fault = disturbances.begin(kindOf(one), disturbed, now());
      if (isKill) {
        await one.kill();
        await sleep(durationMs / 10);
        await startAgain(one);
      } else {
        one.pause();
        await sleep(durationMs);
        one.resume();
      }
      fault.to = now();
    }
    return {
      kind: kindOf(gateway),
      async run(random) {
        const durationMs = 100 + random.below(longestMs - 1_000);
        const isBoth = random.oneIn(4) && gateways.length > 1;
        const both = isBoth ? [gateway, gateways[(gateway.index + 1) % gateways.length]!] : [gateway];
        await Promise.all(both.map((one) => disturb(one, durationMs)));
      },
    };
  }

  function workerFault(gateway: ModelGateway): Fault {
    const kind = `a worker of gateway ${gateway.index} is killed`;
    return {
      kind,
      async run(random) {
        const durationMs = 100 + random.below(longestMs - 1_000);
        const fault = disturbances.begin(kind, [`gateway ${gateway.index}`], now());
        gateway.killWorker((pids) => random.pick(pids));
        // The other one serves, and soon another one, too.
        await sleep(durationMs / 10);
        fault.to = now();
      },
    };
  }

  function storeFault({ kind, disturbs, loses, run }: StoreFault): Fault {
    return {
      kind,
      async run(random) {
        const fault = disturbances.begin(kind, disturbs, now());
        const loss = { from: fault.from - 2_000, to: Number.POSITIVE_INFINITY };
        if (loses === true) losses.push(loss);
        await run(100 + random.below(longestMs), random);
        fault.to = now();
        loss.to = fault.to + 1_000;
      },
    };
  }

  function clockFault({ name, clock, isOfSessions, disturbs = [] }: StoreClock): Fault {
    const kind = `the clock of ${name} is set`;
    const set = (offsetMs: number, by: number) => {
      clock.set(offsetMs);
      if (by > 0 && disturbs.length > 0)
        disturbances.begin(`what runs at ${name} times out`, disturbs, now()).to = now();
    };
    return {
      kind,
      async run(random) {
        const byMs = random.pick(stepsMs) + random.below(100);
        const by = random.oneIn(2) ? byMs : -byMs;
        const durationMs = 200 + random.below(longestMs);
        // While it lasts no promise changes with it: it is only there to be seen in a history.
        const fault = disturbances.begin(`${kind} by ${by} ms`, [], now());
        const step = isOfSessions ? steps.begin(now(), byMs) : undefined;
        set(clock.offsetMs + by, by);
        await sleep(durationMs);
        set(clock.offsetMs, -by);
        fault.to = now();
        if (step !== undefined) step.until = fault.to;
      },
    };
  }

  const ofGateways = gateways.flatMap((gateway) => [
    ...[true, false].map((how) => gatewayFault(gateway, how)),
    ...(gateway.hasWorkers ? [workerFault(gateway)] : []),
  ]);
  const ofClocks = [
    ...gateways.flatMap(({ index, clock }) =>
      clock === null ? [] : { name: `gateway ${index}`, clock, isOfSessions: isByGateways },
    ),
    ...arrangement.clocks,
  ].map(clockFault);
  // Twice as many faults of stores as of clocks, about.
  const ofStores = [...arrangement.faults, ...arrangement.faults].map(storeFault);
  const lanes = [
    lane(createRandom(seed, 71), ofGateways),
    lane(createRandom(seed, 72), [...ofStores, ...ofClocks]),
  ];
  const kinds = [...ofGateways, ...ofStores, ...ofClocks].map(({ kind }) => kind);
  return {
    done: Promise.all(lanes).then(() => {}),
    kinds: [...new Set(kinds)].filter((kind) => stage.pattern.test(kind)),
    stop: () => {
      isStopping = true;
    },
    clockError: (...time) => steps.error(...time),
    isKept: (from, to) => !losses.some((loss) => loss.from <= to && loss.to >= from),
  };
}

/** One that ends by itself is a violation by then: `ownEnd` says so. */
async function startAgain(gateway: ModelGateway): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      return await gateway.start();
    } catch (error) {
      if (tries === 5) throw error;
      await sleep(500);
    }
}
