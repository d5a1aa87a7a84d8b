import { createLog } from '../log/log.ts';
import type { MetricSnapshot } from '../metrics/registry.ts';
import type { ReportRemoved } from '../runtime/removed-headers.ts';
import { exitOnUncaught } from '../serve/exit-on-uncaught.ts';
import { createProcessParts, type ProcessParts } from '../serve/process-parts.ts';
import type { CompleteConfiguration, ListenerAddresses, Opened } from '../serve/running-gateway.ts';
import type { ServingProcess } from '../serve/serving-process.ts';
import { startProcess } from '../serve/start-process.ts';
import type { ManagedReading } from '../stores/managed-records.ts';
import { CountReports } from './count-reports.ts';
import { keepMemoryLow } from './process-memory.ts';
import type { WorkerFunctions, WorkerStart } from './worker-api.ts';
import { type Call, respondTo, type WorkerMessage } from './worker-calls.ts';

/** The members of `process` that a worker uses. */
export type WorkerTerminal = Pick<NodeJS.Process, 'on' | 'once' | 'send' | 'exit'>;

/** Serves as the supervisor directs, until the supervisor stops the worker or is gone. */
export function serveAsWorker(terminal: WorkerTerminal): void {
  // The channel closes with the supervisor; `disconnect` is the event to act on then.
  const send = (message: WorkerMessage) => terminal.send?.(message, undefined, undefined, () => {});
  const worker = new Worker(terminal, {
    counted: (counted) => send({ counted }),
    removed: (removed) => {
      if (removed.length > 0) send({ removed });
    },
  });
  terminal.on('message', (call: Call) => void respondTo(worker, call).then(send));
  terminal.once('disconnect', () => worker.endAlone());
  send({ loaded: true });
}

/** Receivers of what a worker reports by itself. */
interface Reports {
  readonly counted: (counts: readonly MetricSnapshot[]) => void;
  readonly removed: ReportRemoved;
}

class Worker implements WorkerFunctions {
  readonly #terminal: WorkerTerminal;
  readonly #reports: Reports;
  readonly #addresses = Promise.withResolvers<ListenerAddresses>();
  #parts: ProcessParts | null = null;
  #started: Promise<ServingProcess> | null = null;
  #serving: ServingProcess | null = null;
  #isEnding = false;

  constructor(terminal: WorkerTerminal, reports: Reports) {
    this.#terminal = terminal;
    this.#reports = reports;
  }

  async open(start: WorkerStart): Promise<void> {
    const log = createLog({ ...start.config.log, isTerminal: start.isTerminal });
    exitOnUncaught(this.#terminal, log);
    this.#parts = await createProcessParts(start.config, log, {
      now: Date.now,
      via: start.via,
      reportRemoved: this.#reports.removed,
    });
    const opened = Promise.withResolvers<void>();
    this.#started = startProcess(start, this.#parts, {
      ...start,
      sharesPorts: true,
      addresses: () => {
        opened.resolve();
        return this.#addresses.promise;
      },
    });
    await Promise.race([opened.promise, this.#started]);
  }

  async listen(addresses: ListenerAddresses): Promise<Opened> {
    this.#addresses.resolve(addresses);
    const serving = await required(this.#started);
    this.#serving = serving;
    new CountReports(required(this.#parts).metrics.registry, this.#reports.counted).start();
    keepMemoryLow();
    return serving.opened;
  }

  reload(next: CompleteConfiguration, reading: ManagedReading) {
    return required(this.#serving).reload(next, reading);
  }

  adopt(next: CompleteConfiguration) {
    return required(this.#serving).adopt(next);
  }

  renewTls(tls: CompleteConfiguration['tls']): void {
    required(this.#serving).renewTls(tls);
  }

  ping(): void {}

  configurationInForce() {
    return required(this.#serving).configurationInForce();
  }

  readiness() {
    return required(this.#parts).readiness();
  }

  metrics() {
    return required(this.#parts).metrics.registry.snapshot();
  }

  async assertionKeys() {
    return required(this.#parts).current.serving?.parts.assertionKeys() ?? null;
  }

  stop(): void {
    void this.#end();
  }

  /** Stops when the supervisor is gone, without the delay of `shutdown`: no probe can tell a load balancer about the end. */
  endAlone(): void {
    void this.#end(0);
  }

  async #end(delayMs?: number): Promise<void> {
    // The supervisor may end while it waits for this worker to drain.
    if (this.#isEnding) return;
    this.#isEnding = true;
    // Not left to the event loop: a start in progress would continue.
    if (this.#serving === null) return this.#terminal.exit(1);
    await this.#serving.stop(delayMs);
    await this.#parts?.log.close();
    this.#terminal.exit(0);
  }
}

/** Returns a part that exists once the worker has started; throws before that. */
function required<Part>(part: Part | null): Part {
  if (part === null) throw new Error('this worker does not serve yet');
  return part;
}
