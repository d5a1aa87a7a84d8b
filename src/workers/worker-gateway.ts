import { readFrom } from '../config/configured-files.ts';
import type { ListenersTls } from '../listeners/listener-certificates.ts';
import { createLog, type Log } from '../log/log.ts';
import { createProcessParts, type ProcessParts } from '../serve/process-parts.ts';
import type {
  ConfigurationContent,
  PreparedConfiguration,
  ServingGateway,
} from '../serve/serving-gateway.ts';
import { startServing } from '../serve/start-serving.ts';
import type { ConfigurationInForce, ManagedOutcome, ManagedReading } from '../stores/managed-records.ts';
import type { ListeningPlace } from './claimed-ports.ts';
import { collectGarbageOnceIdle } from './idle-garbage.ts';
import { type Message, ProcessCalls, type Remote } from './process-calls.ts';
import { reportCounts } from './report-counts.ts';
import type {
  HandedConfiguration,
  StartedWorker,
  SupervisorFunctions,
  WorkerFunctions,
  WorkerStart,
} from './worker-api.ts';

/** The process of a worker, as far as it uses it. */
export type WorkerTerminal = Pick<NodeJS.Process, 'on' | 'once' | 'send' | 'exit'>;

/** Serves as the supervisor says, until it is told to stop or the supervisor is gone. */
export function serveAsWorker(terminal: WorkerTerminal): void {
  const worker = new Worker(terminal);
  const calls = new ProcessCalls<WorkerFunctions, SupervisorFunctions>(worker, (message) => {
    // The channel closes with the supervisor; what is to be done then is done on `disconnect`.
    terminal.send?.(message, undefined, undefined, () => {});
  });
  worker.supervisor = calls.remote;
  terminal.on('message', (message) => calls.receive(message as Message));
  terminal.once('disconnect', () => worker.endAlone());
  void calls.remote.loaded();
}

class Worker implements WorkerFunctions {
  supervisor!: Remote<SupervisorFunctions>;
  readonly #terminal: WorkerTerminal;
  #parts: ProcessParts | null = null;
  #serving: ServingGateway | null = null;
  #prepared: PreparedConfiguration | null = null;
  #isEnding = false;

  constructor(terminal: WorkerTerminal) {
    this.#terminal = terminal;
  }

  async start(start: WorkerStart): Promise<StartedWorker> {
    const { config, storeFiles, isTerminal, showsEchoPage, creates, appliesManaged } = start;
    const log = createLog({ ...config.log, isTerminal });
    exitOnUncaught(this.#terminal, log);
    const parts = await createProcessParts(config, log, { now: Date.now, via: start.via });
    this.#parts = parts;
    const places = async () => (await this.supervisor.places()) as [ListeningPlace, ...ListeningPlace[]];
    const serving = await startServing(config, parts, {
      content: contentOf(start),
      readStoreFile: readFrom(storeFiles),
      showsEchoPage,
      creates,
      appliesManaged,
      listen: async (listener) => {
        const [{ host, port }] = await places();
        return listener.listen(host, port, true);
      },
      listenForDecisions: async (listeners) => {
        const [, ...addresses] = await places();
        return listeners.listen(addresses, true);
      },
    });
    this.#serving = serving;
    reportCounts(parts.metrics.registry, (counts) => void this.supervisor.counted(counts));
    collectGarbageOnceIdle();
    return { address: serving.address, bootstrapToken: serving.bootstrapToken };
  }

  async prepare(next: HandedConfiguration): Promise<void> {
    await this.discard();
    this.#prepared = await this.#requireServing().prepare(next.config, contentOf(next));
  }

  async applyManaged(reading: ManagedReading): Promise<ManagedOutcome['outcome']> {
    if (this.#prepared === null) throw new Error('nothing is prepared');
    return this.#prepared.applyManaged(reading);
  }

  configurationInForce(): Promise<ConfigurationInForce | undefined> {
    return this.#requireServing().configurationInForce();
  }

  apply(): void {
    this.#prepared?.apply();
    this.#prepared = null;
  }

  async discard(): Promise<void> {
    const prepared = this.#prepared;
    this.#prepared = null;
    await prepared?.discard();
  }

  renewTls(tls: ListenersTls): void {
    this.#requireServing().renewTls(tls);
  }

  readiness() {
    return this.#requireParts().readiness();
  }

  metrics() {
    return this.#requireParts().metrics.registry.snapshot();
  }

  async assertionKeys() {
    return this.#requireParts().current.serving?.assertionKeys() ?? null;
  }

  stop(): void {
    void this.#end();
  }

  /** The supervisor is gone: nothing tells a load balancer to send no more, so it is not waited for. */
  endAlone(): void {
    void this.#end(0);
  }

  async #end(delayMs?: number): Promise<void> {
    // The supervisor may go while it waits for this one to drain.
    if (this.#isEnding) return;
    this.#isEnding = true;
    // Not left to the event loop: a start under way would go on.
    if (this.#serving === null) return this.#terminal.exit(1);
    await this.#serving.stop(delayMs);
    await this.#parts?.log.close();
    this.#terminal.exit(0);
  }

  #requireServing(): ServingGateway {
    if (this.#serving === null) throw new Error('this worker does not serve yet');
    return this.#serving;
  }

  #requireParts(): ProcessParts {
    if (this.#parts === null) throw new Error('this worker has not started yet');
    return this.#parts;
  }
}

function contentOf({ files, tls }: HandedConfiguration): ConfigurationContent {
  return { readFile: readFrom(files), tls };
}

/** After an unexpected error the state of a gateway is unknown: it must not continue. */
function exitOnUncaught(terminal: WorkerTerminal, log: Log): void {
  terminal.on('uncaughtException', (error, origin) => {
    log.error('unexpected error, stopping', { err: error, origin });
    log.flush();
    terminal.exit(1);
  });
}
