import type { AddressInfo } from 'node:net';
import type { ReadFile } from '../config/configured-files.ts';
import type { Config } from '../config/sections/schema.ts';
import { createRecentUse } from '../credentials/recent-use.ts';
import { KnownKeys } from '../credentials/signing-keys.ts';
import { Strangers } from '../forward-auth/admission.ts';
import { composeGateway, type LastingParts } from '../gateway/compose.ts';
import type { HandshakeFailure } from '../http1/server/handshake-failure.ts';
import { createDecisionListeners, type DecisionListeners } from '../listeners/decision-listeners.ts';
import { FailedHandshakes } from '../listeners/failed-handshakes.ts';
import type { ConnectionRefusal, HttpListener } from '../listeners/http-listener.ts';
import { createPublicListener } from '../listeners/public-listener.ts';
import { addAuditCounts, countAudited } from '../runtime/audit-counts.ts';
import { startAuditTrail } from '../runtime/audit-trail.ts';
import { startBackgroundWork } from '../runtime/background-work.ts';
import { openBootstrap } from '../runtime/bootstrap.ts';
import { loadEngine } from '../runtime/engine.ts';
import { applyManaged } from '../runtime/managed-configuration.ts';
import { traceStores } from '../runtime/spans.ts';
import type { Creation } from '../runtime/store-files.ts';
import { measureStores } from '../runtime/store-metrics.ts';
import { openStores, type Stores } from '../runtime/stores.ts';
import type { ProcessParts } from './process-parts.ts';
import { type ConfigurationContent, ServingGateway, type ServingParts } from './serving-gateway.ts';
import { createStartSteps, type RunStep } from './start-steps.ts';

/** How long a start waits for the records store, ms. */
const recordsTimeoutMs = 30_000;
/** Less than any connection to a store may take, ms: it fails with what failed. */
const storeLookupMs = 900;

/** How a process serves, apart from the configuration. */
export interface ServingOptions {
  /** Content of the files named by the configuration, except those of the stores. */
  readonly content: ConfigurationContent;
  /** Reads the files that the stores are opened with. */
  readonly readStoreFile: ReadFile;
  /** Whether people see a page of `builtin:echo`; programs always get JSON. */
  readonly showsEchoPage: boolean;
  /** Whether missing files of stores are made. */
  readonly creates: Creation;
  /** Whether users and scope sets of the configuration are applied; false if another process of the gateway has. */
  readonly appliesManaged: boolean;
  /** Starts to accept connections. */
  readonly listen: (server: Pick<HttpListener['server'], 'listen'>) => Promise<AddressInfo>;
  /** The same of the proxies that ask for decisions. */
  readonly listenForDecisions: (listeners: Pick<DecisionListeners, 'listen'>) => Promise<AddressInfo[]>;
}

/** Opens the stores and the public listener and starts serving. Throws when a store can't be opened or an address is taken. */
export async function startServing(
  config: Config,
  parts: ProcessParts,
  options: ServingOptions,
): Promise<ServingGateway> {
  const { current, streams, metrics, health, names, refused, log, now } = parts;
  const { content, readStoreFile, showsEchoPage, creates, appliesManaged } = options;
  const opened = await openStores(config, {
    now,
    events: health.events,
    recordsTimeoutMs,
    creates,
    staleIfErrorMs: () => current.settings.sessions.stale_if_error,
    readFile: readStoreFile,
    lookup: names.lookupWithin(storeLookupMs),
  });
  const lasting = await startLasting(config, opened, parts, showsEchoPage);
  const { stores } = lasting;
  const runStep = createStartSteps(config, recordsTimeoutMs);
  if (appliesManaged)
    await runStep(() => applyAtStart(config, lasting)).catch(async (error) => {
      await stores.close();
      throw error;
    });
  current.replace(await runStep(() => composeGateway(config, lasting, content.readFile)));
  stores.sessions.onEnded((id, afterMs) => {
    streams.endOf(id);
    metrics.revocationSeen(afterMs);
  });
  const accepting = await startAccepting(config, lasting, parts, { ...options, runStep });
  health.serveFrom(stores);
  const background = startBackgroundWork(stores, {
    recentUse: lasting.recentUse,
    log,
    audit: lasting.auditTrail.audit,
    registry: metrics.registry,
    clocks: opened.clocks,
    keys: lasting.keys,
    settings: () => current.settings,
    refused,
    now,
  });
  const { startDraining } = parts;
  return new ServingGateway({ ...accepting, config, lasting, current, startDraining, background });
}

/** Applies the users and scope sets of the configuration: those of the latest start count, whatever was in force. */
async function applyAtStart(
  config: Config,
  { stores, log, auditTrail: { audit } }: Pick<LastingParts, 'stores' | 'log' | 'auditTrail'>,
): Promise<void> {
  const made = await applyManaged(config, { stores, audit, log, reading: 'next' });
  if (made.outcome === 'applied' && made.superseded !== null)
    log.warn('users and scope sets of the configuration supersede others that were in force', {
      superseded: made.superseded,
    });
}

/** Starts the parts that every configuration shares. */
async function startLasting(
  config: Config,
  opened: Stores,
  { current, names, streams, log, metrics, tracing, descriptors, via, now }: ProcessParts,
  showsEchoPage: boolean,
): Promise<LastingParts> {
  const { registry } = metrics;
  const measured = traceStores(measureStores(opened, registry), tracing, config);
  const counts = addAuditCounts(registry);
  const stores = { ...measured, records: countAudited(measured.records, counts) };
  return {
    names,
    streams,
    log,
    metrics,
    tracing,
    descriptors,
    showsEchoPage,
    via,
    now,
    stores,
    keys: new KnownKeys({ records: stores.records, now }),
    recentUse: createRecentUse({
      records: stores.records,
      sessions: stores.sessions,
      times: () => current.gateway.sessionTimes,
    }),
    cookieNames: new Set(),
    startCookiePrefixes: new Set(),
    auditTrail: startAuditTrail(measured.records, { log, metrics, counts, now }),
    engine: await loadEngine(config, log),
  };
}

type AcceptingParts = Pick<
  ServingParts,
  'listener' | 'handshakes' | 'address' | 'decisions' | 'decisionAddresses' | 'bootstrapToken'
>;

/** Opens the listeners for requests and decisions, and the bootstrap while there is no administrator. */
async function startAccepting(
  config: Config,
  { engine, log, auditTrail, metrics, tracing, stores, descriptors }: LastingParts,
  { current, refused }: ProcessParts,
  {
    content: { tls },
    listen,
    listenForDecisions,
    runStep,
  }: Pick<ServingOptions, 'content' | 'listen' | 'listenForDecisions'> & { readonly runStep: RunStep },
): Promise<AcceptingParts> {
  const handshakes = new FailedHandshakes(log, metrics.registry);
  const parts = {
    engine,
    current,
    log,
    refusals: auditTrail.refusals,
    metrics,
    tracing,
    onHandshakeFailed: (failure: HandshakeFailure) => handshakes.count(failure),
    onConnectionRefused: (why: ConnectionRefusal) =>
      refused.count(why === 'limit' && descriptors.isShort ? 'descriptors' : why),
  };
  const listener = createPublicListener(config, tls.listen, parts);
  const decisions: DecisionListeners = await createDecisionListeners(config, tls, {
    ...parts,
    hasRoom: () => decisions.sockets < descriptors.share,
    strangers: new Strangers(descriptors.strangers),
  });
  metrics.watchConnections(listener.server, descriptors);
  descriptors.applyTo(listener.server, config, log);
  const bootstrapToken = await runStep(() => openBootstrap(stores.records, config));
  const address = await listen(listener.server);
  const decisionAddresses = await listenForDecisions(decisions);
  return { listener, handshakes, address, decisions, decisionAddresses, bootstrapToken };
}
