import { setTimeout as sleep } from 'node:timers/promises';
import { applyManaged } from '../administration/managed.ts';
import { type ConfiguredFiles, readFrom } from '../config/configured-files.ts';
import type { Config } from '../config/sections/schema.ts';
import { describeAddress } from '../config/values/postgres-address.ts';
import { createRecentUse } from '../credentials/recent-use.ts';
import { KnownKeys } from '../credentials/signing-keys.ts';
import { Strangers } from '../forward-auth/admission.ts';
import { composeGateway } from '../gateway/compose.ts';
import type { LastingParts } from '../gateway/lasting-parts.ts';
import { sessionTimesOf } from '../gateway/session-times.ts';
import { createListeners, type Listeners } from '../listeners/listeners.ts';
import { addAuditCounts, countAudited } from '../runtime/audit-counts.ts';
import { startAuditTrail } from '../runtime/audit-trail.ts';
import { startBackgroundWork } from '../runtime/background-work.ts';
import { openBootstrap } from '../runtime/bootstrap.ts';
import { loadEngine } from '../runtime/engine.ts';
import { traceStores } from '../runtime/spans.ts';
import type { Creation } from '../runtime/store-files.ts';
import { measureStores } from '../runtime/store-metrics.ts';
import { openStores, type Stores } from '../runtime/stores.ts';
import { isUnavailable } from '../stores/remote/breaker.ts';
import { StoreOpenError } from '../stores/store-open-error.ts';
import type { ProcessParts } from './process-parts.ts';
import type { CompleteConfiguration, ListenerAddresses } from './running-gateway.ts';
import { ServingProcess } from './serving-process.ts';

/** Time for which a start waits for the records store, ms. */
const recordsTimeoutMs = 30_000;
/** Timeout of a lookup, ms: shorter than that of any connection to a store, which then fails with the lookup's error. */
const storeLookupMs = 900;
/** Pause before a step that found the records store unavailable is tried again, ms. */
const retryDelayMs = 250;

/** Options of a process that serves, apart from the configuration. */
export interface ProcessStart {
  /** Content of the files that the stores are opened with, as read at the gateway's start, even if they have changed since. */
  readonly storeFiles: ConfiguredFiles;
  /** True if browsers get a page from `builtin:echo`; programs always get JSON. */
  readonly showsEchoPage: boolean;
  /** Cases in which missing files of stores are created. */
  readonly creates: Creation;
  /** True if users and scope sets of the configuration are applied; false if another process of the gateway has applied them. */
  readonly appliesManaged: boolean;
  /** Returns the addresses to listen on; called when the process is about to listen. */
  readonly addresses: () => Promise<ListenerAddresses>;
  /** True if other processes listen on the same addresses. */
  readonly sharesPorts: boolean;
}

/** Opens stores and listeners and starts serving. Throws when a store can't be opened or an address is taken. */
export async function startProcess(
  { config, files, tls }: CompleteConfiguration,
  parts: ProcessParts,
  options: ProcessStart,
): Promise<ServingProcess> {
  const { current, streams, metrics, health, names, refused, removed, log, now, startDraining } = parts;
  const { storeFiles, showsEchoPage, creates, appliesManaged } = options;
  const opened = await openStores(config, {
    now,
    events: health.events,
    recordsTimeoutMs,
    creates,
    staleIfErrorMs: () => current.config.sessions.stale_if_error,
    readFile: readFrom(storeFiles),
    lookup: names.lookupWithin(storeLookupMs),
  });
  const lasting = await startLasting(config, opened, parts, showsEchoPage);
  const { stores } = lasting;
  const whileUnavailable = createRetry(config);
  if (appliesManaged)
    await whileUnavailable(() => applyAtStart(config, lasting)).catch(async (error) => {
      await stores.close();
      throw error;
    });
  current.replace(await whileUnavailable(() => composeGateway(config, lasting, readFrom(files))));
  stores.sessions.onEnded((id, afterMs) => {
    streams.endOf(id);
    metrics.revocationSeen(afterMs);
  });
  const listeners = await openListeners({ config, tls }, lasting, parts);
  const bootstrapToken = await whileUnavailable(() => openBootstrap(stores.records, config));
  const [address, ...decisionAddresses] = await listeners.listen(
    await options.addresses(),
    options.sharesPorts,
  );
  health.serveFrom(stores);
  const background = startBackgroundWork(stores, {
    recentUse: lasting.recentUse,
    log,
    audit: lasting.auditTrail.audit,
    registry: metrics.registry,
    clocks: opened.clocks,
    keys: lasting.keys,
    settings: () => current.config,
    refused,
    removed,
    now,
  });
  return new ServingProcess({
    config,
    lasting,
    current,
    startDraining,
    listeners,
    background,
    opened: { address: address!, decisionAddresses, bootstrapToken },
  });
}

/** Applies the users and scope sets of the configuration: the latest start wins, whatever was in force. */
async function applyAtStart(
  config: Config,
  { stores, log, auditTrail: { audit } }: Pick<LastingParts, 'stores' | 'log' | 'auditTrail'>,
): Promise<void> {
  const made = await applyManaged(config, { ...stores, audit, log, reading: 'next' });
  if (made.outcome === 'applied' && made.superseded !== null)
    log.warn(
      'users and scope sets in this configuration replaced those of a different one that was in force',
      { superseded_configuration_number: made.superseded },
    );
}

/** Starts the parts that every configuration shares. */
async function startLasting(
  config: Config,
  opened: Stores,
  parts: ProcessParts,
  showsEchoPage: boolean,
): Promise<LastingParts> {
  const { current, log, metrics, tracing, now } = parts;
  const { registry } = metrics;
  const measured = traceStores(measureStores(opened, registry), tracing, config);
  const counts = addAuditCounts(registry);
  const stores = { ...measured, records: countAudited(measured.records, counts) };
  return {
    ...parts,
    showsEchoPage,
    stores,
    keys: new KnownKeys({ records: stores.records, now }),
    recentUse: createRecentUse({
      records: stores.records,
      sessions: stores.sessions,
      times: () => sessionTimesOf(current.config),
    }),
    cookieNames: new Set(),
    startCookiePrefixes: new Set(),
    auditTrail: startAuditTrail(measured.records, { log, metrics, counts, now }),
    engine: await loadEngine(config, log),
  };
}

/** Creates the listeners, whose connections share the descriptors. */
async function openListeners(
  { config, tls }: Pick<CompleteConfiguration, 'config' | 'tls'>,
  { engine, log, auditTrail, metrics, tracing, descriptors }: LastingParts,
  { current, refused, removed }: ProcessParts,
): Promise<Listeners> {
  const listeners: Listeners = await createListeners(config, tls, {
    engine,
    current,
    log,
    refusals: auditTrail.refusals,
    removed,
    metrics,
    tracing,
    onConnectionRefused: (why) => refused.count(why === 'limit' && descriptors.isShort ? 'descriptors' : why),
    hasRoom: () => listeners.decisionSockets < descriptors.share,
    strangers: new Strangers(descriptors.strangers),
  });
  metrics.watchConnections(listeners.clients, descriptors);
  descriptors.applyTo(listeners.clients, config, log);
  return listeners;
}

/**
 * Creates a function that runs a step and, while the records store is unavailable, repeats it until {@link recordsTimeoutMs} from
 * now: an open store can become unavailable again. Rejects with any other error of the step, or with a {@link StoreOpenError}
 * that names the store if it is still unavailable at the end.
 */
function createRetry({ stores: { records } }: Config) {
  const deadline = performance.now() + recordsTimeoutMs;
  return async <T>(step: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await step();
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        if (performance.now() > deadline) {
          const name =
            records.kind === 'sqlite' ? records.path : `stores.records ${describeAddress(records)}`;
          const reason = error.cause instanceof Error ? error.cause.message : error.code;
          throw new StoreOpenError(name, `can't be reached (${reason})`, error);
        }
        await sleep(retryDelayMs);
      }
    }
  };
}
