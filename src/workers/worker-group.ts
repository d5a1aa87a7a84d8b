import type { ConfiguredFiles } from '../config/configured-files.ts';
import { routesOnlyIn } from '../gateway/routes-only-in.ts';
import type { Readiness } from '../http/readiness.ts';
import type { ListenersTls } from '../listeners/listener-certificates.ts';
import type { Log } from '../log/log.ts';
import { EndedCounts, type ProcessMetrics } from '../metrics/combined-metrics.ts';
import type { Creation } from '../runtime/store-files.ts';
import { newVia } from '../runtime/via.ts';
import type { ConfigurationInForce, ManagedOutcome, ManagedReading } from '../stores/managed-records.ts';
import { claimPorts, type ListeningPlace, sharedPlaces } from './claimed-ports.ts';
import { evenPart } from './even-parts.ts';
import { handedTls } from './handed-tls.ts';
import { applyIn, applyManagedIn, catchUp, discardIn, prepareIn } from './reload-steps.ts';
import { responsesOf } from './responses.ts';
import type { HandedConfiguration, StartedWorker, WorkerStart } from './worker-api.ts';
import type { Outputs, WorkerProcess } from './worker-process.ts';
import { WorkerSlot } from './worker-slot.ts';

/** What a worker's stop may take beside the durations of `shutdown`, ms. */
const stopMarginMs = 10_000;

export interface GroupOptions {
  readonly count: number;
  /** What they start with, as configured for the gateway as a whole. */
  readonly handed: HandedConfiguration;
  /** Content of the stores' files at the start: workers that are started later open the same stores. */
  readonly storeFiles: ConfiguredFiles;
  readonly isTerminal: boolean;
  readonly showsEchoPage: boolean;
  readonly creates: Creation;
  readonly outputs: Outputs;
  readonly log: Log;
  readonly onRestart: () => void;
}

/** The workers of a gateway: all of them serve by the same configuration. */
export class WorkerGroup {
  readonly ended = new EndedCounts();
  readonly #options: GroupOptions;
  readonly #slots: readonly WorkerSlot[];
  readonly #listening = Promise.withResolvers<void>();
  readonly #via = newVia();
  #handed: HandedConfiguration;
  #places: Promise<readonly ListeningPlace[]> | null = null;

  /** Starts the processes; they serve from {@link start} on. */
  constructor(options: GroupOptions) {
    this.#options = options;
    this.#handed = options.handed;
    const slotOptions = {
      startAgain: () => {
        options.onRestart();
        return this.#startOf({ creates: 'never', appliesManaged: false });
      },
      places: () => this.#claim(),
      onEnded: this.ended.add.bind(this.ended),
      outputs: options.outputs,
      log: options.log,
    };
    this.#slots = Array.from({ length: options.count }, (_, index) => new WorkerSlot(index + 1, slotOptions));
  }

  /** Serves; the first worker makes and migrates the stores before the others open them. Rejects as a worker does. */
  async start(): Promise<StartedWorker> {
    const { creates } = this.#options;
    const handed = this.#handed;
    const [first, ...others] = this.#slots;
    try {
      const starting = first!.start(this.#startOf({ creates, appliesManaged: true }));
      await Promise.race([this.#listening.promise, starting]);
      const start = this.#startOf({ creates: 'never', appliesManaged: false });
      const [started] = await Promise.all([starting, ...others.map((slot) => slot.start(start))]);
      // A certificate that was renewed meanwhile.
      if (this.#handed !== handed) this.renewTls(this.#handed.tls);
      return started;
    } catch (error) {
      this.kill();
      throw error;
    }
  }

  /** Serves by another configuration; rejects, with everything as it was, if a worker can't, or `applyManaged` does. */
  async reload(next: HandedConfiguration, reading: ManagedReading): Promise<ManagedOutcome['outcome']> {
    const part = this.#partOf(next);
    const asked = this.#serving();
    const prepared = await prepareIn(asked, part);
    const outcome = await applyManagedIn(prepared, reading).catch(async (error: unknown) => {
      await discardIn(prepared);
      throw error;
    });
    this.ended.forget(routesOnlyIn(this.#handed.config, next.config));
    this.#handed = next;
    for (const slot of this.#slots) slot.startAnew();
    // A worker that does not respond holds up no other: its successor starts with this configuration.
    for (const worker of asked) if (!prepared.includes(worker)) worker.kill();
    const late = this.#serving().filter((worker) => !asked.includes(worker));
    await Promise.all([applyIn(prepared), catchUp(late, part)]);
    return outcome;
  }

  /** The configuration in force, as a worker reads it; rejects if no worker can. */
  configurationInForce(): Promise<ConfigurationInForce | undefined> {
    const [first] = this.#serving();
    return first?.remote.configurationInForce() ?? notServing();
  }

  /** Every worker uses this certificate for new connections. */
  renewTls(renewed: ListenersTls): void {
    const tls = handedTls(renewed);
    this.#handed = { ...this.#handed, tls };
    for (const slot of this.#slots) slot.startAnew();
    for (const worker of this.#serving()) worker.remote.renewTls(tls).catch(() => worker.kill());
  }

  /** Of every worker; null if it does not serve, or did not respond. */
  readiness(): Promise<(Readiness | null)[]> {
    return responsesOf(this.#slots.map((slot) => slot.serving?.remote.readiness() ?? notServing()));
  }

  /** Of every worker; of one that does not respond, what it had counted. */
  async metrics(): Promise<ProcessMetrics[]> {
    const asked = this.#slots.map((slot) => slot.serving);
    const responses = await responsesOf(this.#slots.map((slot) => slot.metrics()));
    return this.#slots.map((slot, index) => {
      // What one had counted that has ended since is counted with the ended ones.
      const isCurrent = asked[index] === slot.serving;
      return { worker: String(slot.number), metrics: (isCurrent && responses[index]) || slot.counts };
    });
  }

  /** The public keys of assertions, from the first worker that responds: all have the same. Null: none does. */
  async assertionKeys(): Promise<object | null> {
    const asked = this.#serving().map((worker) => worker.remote.assertionKeys());
    return Promise.any(asked).catch(() => null);
  }

  /** Drains and ends all of them; resolves to whether each ended by itself, in time. */
  async stop(): Promise<boolean> {
    const { delay, timeout } = this.#handed.config.shutdown;
    const ends = await Promise.all(this.#slots.map((slot) => slot.stop(delay + timeout + stopMarginMs)));
    return ends.every((end) => end === null || end.code === 0);
  }

  /** Ends all of them at once. */
  kill(): void {
    for (const slot of this.#slots) slot.kill();
  }

  #startOf(how: Pick<WorkerStart, 'creates' | 'appliesManaged'>): WorkerStart {
    const { storeFiles, isTerminal, showsEchoPage } = this.#options;
    return { ...this.#partOf(this.#handed), storeFiles, isTerminal, showsEchoPage, via: this.#via, ...how };
  }

  #partOf(handed: HandedConfiguration): HandedConfiguration {
    const { config, files, tls } = handed;
    return { config: evenPart(config, this.#options.count), files, tls: handedTls(tls) };
  }

  /** The first worker that is about to listen has the ports claimed, others share them. */
  #claim(): Promise<readonly ListeningPlace[]> {
    this.#places ??= claimPorts(sharedPlaces(this.#options.handed.config)).then((places) => {
      this.#listening.resolve();
      return places;
    });
    return this.#places;
  }

  #serving(): WorkerProcess[] {
    return this.#slots.flatMap((slot) => slot.serving ?? []);
  }
}

function notServing(): Promise<never> {
  return Promise.reject(new Error('the worker does not serve'));
}
