import { setTimeout as sleep } from 'node:timers/promises';
import type { ConfiguredFiles } from '../config/configured-files.ts';
import type { Config } from '../config/sections/schema.ts';
import { routesOnlyIn } from '../gateway/routes-only-in.ts';
import type { Readiness } from '../http/readiness.ts';
import type { ListenersTls } from '../listeners/listener-certificates.ts';
import type { Log } from '../log/log.ts';
import { EndedCounts, type ProcessMetrics } from '../metrics/combined-metrics.ts';
import { type RemovedCount, RemovedHeaderLines } from '../runtime/removed-headers.ts';
import { newVia } from '../runtime/via.ts';
import {
  type CompleteConfiguration,
  type ListenerAddresses,
  listenerAddresses,
  type Opened,
  type Serving,
} from '../serve/running-gateway.ts';
import type { ConfigurationInForce, ManagedOutcome, ManagedReading } from '../stores/managed-records.ts';
import { onTicks } from '../ticks.ts';
import { claimPorts } from './claimed-ports.ts';
import { combineReadiness } from './combined-readiness.ts';
import { responsesOf } from './responses.ts';
import type { WorkerStart } from './worker-api.ts';
import { type Outputs, WorkerEnded, type WorkerProcess } from './worker-process.ts';
import { WorkerSlot } from './worker-slot.ts';

/** Time that a worker may take to adopt a configuration that another has judged, ms: longer than a store may take. */
const turnTimeoutMs = 8_000;
/** Time that a worker may take to judge a configuration, and to apply its users and scope sets, ms. */
const judgeTimeoutMs = 30_000;
/** Time that a worker's stop may take in addition to the durations of `shutdown`, ms. */
const stopMarginMs = 10_000;

const removedIntervalMs = 1_000;

/** Options of the workers, apart from the configuration. */
export interface GroupOptions extends Pick<WorkerStart, 'isTerminal' | 'showsEchoPage' | 'creates'> {
  /** Number of workers. */
  readonly count: number;
  readonly outputs: Outputs;
}

/** The workers of a gateway, all of which serve the same configuration. */
export class WorkerGroup implements Serving {
  opened!: Opened;
  readonly ended = new EndedCounts();
  /** Number of workers started in place of one that ended. */
  restarts = 0;
  readonly #options: GroupOptions;
  readonly #log: Log;
  readonly #slots: readonly WorkerSlot[];
  readonly #via = newVia();
  readonly #stopLines: () => void;
  #isDraining = false;
  /** The configuration in force, with the limits of the gateway as a whole. */
  #current!: CompleteConfiguration;
  /** Content of the stores' files at the start: workers that are started later open the same stores. */
  #storeFiles!: ConfiguredFiles;
  #addresses!: ListenerAddresses;

  constructor(options: GroupOptions, log: Log) {
    this.#options = options;
    this.#log = log;
    const removed = new RemovedHeaderLines(log, Date.now);
    this.#stopLines = onTicks(removedIntervalMs, () => removed.add([]));
    const slotOptions = {
      startAgain: () => {
        this.restarts += 1;
        return {
          start: this.#startOf({ creates: 'never', appliesManaged: false }),
          addresses: this.#addresses,
        };
      },
      onEnded: this.ended.add.bind(this.ended),
      onRemoved: (counts: readonly RemovedCount[]) => removed.add(counts),
      outputs: options.outputs,
      log,
    };
    this.#slots = Array.from({ length: options.count }, (_, index) => new WorkerSlot(index + 1, slotOptions));
  }

  /** Starts serving; the first worker creates and migrates the stores before the others open them. Rejects as a worker does. */
  async start(initial: CompleteConfiguration, storeFiles: ConfiguredFiles): Promise<this> {
    this.#current = initial;
    this.#storeFiles = storeFiles;
    const [first, ...others] = this.#slots;
    const wanted = listenerAddresses(initial.config);
    try {
      // A port in use is detected before any store is opened; a port that the system chooses is chosen after.
      await claimPorts(wanted.filter(({ port }) => port !== 0));
      for (const slot of this.#slots) slot.launch();
      await first!.open(this.#startOf({ creates: this.#options.creates, appliesManaged: true }));
      const addresses = (await claimPorts(wanted)) as [ListenerAddresses[0], ...ListenerAddresses];
      this.#addresses = addresses;
      const start = this.#startOf({ creates: 'never', appliesManaged: false });
      const opening = others.map(async (slot) => {
        await slot.open(start);
        return slot.listen(addresses);
      });
      [this.opened] = await Promise.all([first!.listen(addresses), ...opening]);
      return this;
    } catch (error) {
      this.kill();
      throw error;
    }
  }

  /** The configuration in force in the records, as a worker reads it. */
  async configurationInForce(): Promise<ConfigurationInForce | undefined> {
    return this.#serving()[0]?.call('configurationInForce') ?? notServing();
  }

  /** Readiness of the gateway; a worker that does not serve, or does not respond, is not ready. */
  async readiness(): Promise<Readiness> {
    const asked = this.#slots.map((slot) => slot.serving?.call('readiness') ?? notServing());
    return combineReadiness(await responsesOf(asked), this.#isDraining);
  }

  /** Metrics of every worker; of one that does not respond, its last reported counts. */
  async metrics(): Promise<ProcessMetrics[]> {
    const asked = this.#slots.map((slot) => slot.serving);
    const responses = await responsesOf(this.#slots.map((slot) => slot.metrics()));
    return this.#slots.map((slot, index) => {
      // The counts of a worker that has ended since are already among those of the ended workers.
      const isCurrent = asked[index] === slot.serving;
      return { worker: String(slot.number), metrics: (isCurrent && responses[index]) || slot.counts };
    });
  }

  /** The public keys of assertions, from the first worker that responds: all have the same. Null if none does. */
  async assertionKeys(): Promise<object | null> {
    const asked = this.#serving().map((worker) => worker.call('assertionKeys'));
    return Promise.any(asked).catch(() => null);
  }

  /** Ends all workers at once. */
  kill(): void {
    this.#stopLines();
    for (const slot of this.#slots) slot.kill();
  }

  /** Has one worker judge the configuration by adopting it, as a single process does; then the others adopt it. */
  async reload(next: CompleteConfiguration, reading: ManagedReading): Promise<ManagedOutcome['outcome']> {
    const part = this.#partOf(next);
    const { judge, outcome } = await this.#judge(part, reading);
    this.ended.forget(routesOnlyIn(this.#current.config, next.config));
    this.#log.configure(next.config.log);
    this.#current = next;
    await this.#turnAll((worker) => (worker === judge ? undefined : worker.call('adopt', part)));
    return outcome;
  }

  async #judge(part: CompleteConfiguration, reading: ManagedReading) {
    for (;;) {
      const judge = await this.#responsive();
      try {
        return { judge, outcome: await inTime(judge.call('reload', part, reading), judgeTimeoutMs) };
      } catch (error) {
        // A killed or crashed worker says nothing about the configuration.
        if (error instanceof WorkerEnded) continue;
        // The worker may still adopt a configuration that isn't in force.
        if (error instanceof NoResponse) judge.kill();
        throw error;
      }
    }
  }

  /** The first worker that responds, so that nothing waits for a worker that hangs. */
  async #responsive(): Promise<WorkerProcess> {
    const asked = this.#serving().map(async (worker) => {
      await worker.call('ping');
      return worker;
    });
    return inTime(Promise.any(asked).catch(notServing));
  }

  renewTls(tls: ListenersTls): void {
    this.#current = { ...this.#current, tls };
    void this.#turnAll((worker) => worker.call('renewTls', textsOf(tls)));
  }

  /** Has every worker adopt what is in force; one that can't, or does not respond, is replaced by a new worker. */
  async #turnAll(turn: (worker: WorkerProcess) => Promise<void> | undefined): Promise<void> {
    for (const slot of this.#slots) slot.startAnew();
    const turning = this.#slots.map(async ({ number, serving }) => {
      if (serving === null) return;
      await inTime(turn(serving)).catch((error: unknown) => {
        if (!serving.hasEnded)
          this.#log.warn(
            'worker failed to switch to the new configuration or certificates and is being replaced',
            { worker: number, err: error },
          );
        serving.kill();
      });
    });
    await Promise.all(turning);
  }

  /** Drains and ends all workers; rejects if one had to be killed, or failed. */
  async stop(): Promise<void> {
    this.#isDraining = true;
    // A second signal ends this process at once, and the workers with it.
    process.once('exit', () => this.kill());
    const { delay, timeout } = this.#current.config.shutdown;
    const ends = await Promise.all(this.#slots.map((slot) => slot.stop(delay + timeout + stopMarginMs)));
    this.#stopLines();
    if (ends.some((end) => end !== null && end.code !== 0))
      throw new WorkerEnded('a worker did not stop in time, or failed while stopping');
  }

  #startOf(how: Pick<WorkerStart, 'creates' | 'appliesManaged'>): WorkerStart {
    const { isTerminal, showsEchoPage } = this.#options;
    return {
      ...this.#partOf(this.#current),
      storeFiles: this.#storeFiles,
      isTerminal,
      showsEchoPage,
      via: this.#via,
      ...how,
    };
  }

  #partOf({ config, files, tls }: CompleteConfiguration): CompleteConfiguration {
    return { config: evenPart(config, this.#options.count), files, tls: textsOf(tls) };
  }

  #serving(): WorkerProcess[] {
    return this.#slots.flatMap((slot) => slot.serving ?? []);
  }
}

/** The configuration of one of `count` workers, with an even part, rounded up, of each limit of the gateway as a whole. */
export function evenPart(config: Config, count: number): Config {
  const part = (whole: number) => Math.ceil(whole / count);
  const { limits, passwords, upstreams } = config;
  const connections = part(limits.connections);
  const connections_per_address = part(limits.connections_per_address);
  const concurrency = part(passwords.concurrency);
  const parts = Object.entries(upstreams).map(([name, upstream]) => {
    const max_connections = part(upstream.max_connections);
    return [name, { ...upstream, max_connections, max_waiting: part(upstream.max_waiting) }];
  });
  return {
    ...config,
    limits: { ...limits, connections, connections_per_address },
    passwords: { ...passwords, concurrency, queue: part(passwords.queue) },
    upstreams: Object.fromEntries(parts),
  };
}

/** The TLS settings as sent between processes: PEM texts, without the objects parsed from them. */
function textsOf(tls: ListenersTls): ListenersTls {
  return tls.map((own) => own && { cert: own.cert, key: own.key, clients: own.clients });
}

class NoResponse extends Error {
  constructor() {
    super('a worker did not respond in time');
    this.name = 'NoResponse';
  }
}

/** The response; rejects with {@link NoResponse} if it takes too long. */
async function inTime<T>(response: T | Promise<T>, timeoutMs = turnTimeoutMs): Promise<T> {
  const tooLate = sleep(timeoutMs, undefined, { ref: false }).then(() => {
    throw new NoResponse();
  });
  return Promise.race([response, tooLate]);
}

function notServing(): Promise<never> {
  return Promise.reject(new Error('no worker serves'));
}
