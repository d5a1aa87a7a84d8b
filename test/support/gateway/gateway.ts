import { openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { loadConfig } from '../../../src/config/load.ts';
import { formatProblem } from '../../../src/config/report/problems.ts';
import type { Config } from '../../../src/config/sections/schema.ts';
import { createLogOn } from '../../../src/log/log.ts';
import type { RunningGateway } from '../../../src/serve/running-gateway.ts';
import { startGateway } from '../../../src/serve/start-gateway.ts';
import { auditProblems } from '../administration/audit-conformity.ts';
import { type ApiClient, createApiClient } from '../clients/api-client.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../servers/recording-upstream.ts';
import { makeTemporaryFolder } from '../temporary-folder.ts';
import { createSecretWatch, type SecretWatch } from './secret-watch.ts';

/** What of a tap test the harness needs. */
export interface TestScope {
  teardown(run: () => unknown): unknown;
}

export const bootstrapToken = 'bootstrap-token-of-the-tests';
export const administrator = { username: 'ada', password: 'correct horse battery staple' } as const;

/** A real gateway on a free port, with its stores in a folder of its own and an upstream that records. */
export interface TestGateway {
  readonly port: number;
  readonly managementPort: number;
  /** In the order of `forward_auth`. */
  readonly decisionPorts: readonly number[];
  readonly folder: string;
  readonly configFile: string;
  readonly upstream: RecordingUpstream;
  readonly api: ApiClient;
  readonly secrets: SecretWatch;
  /** The clock of the gateway stands this much ahead of the machine's. */
  advance(milliseconds: number): void;
  /** Serves by another configuration, with these overrides, from now on. */
  reload(overrides: object): Promise<void>;
  /** Every line of the log so far, parsed. */
  logLines(): Record<string, unknown>[];
  /**
   * Stops it; also done at the end of the test, where the log and every error body are searched for secrets, what the upstream
   * received for credentials of ours, and the audit lines for what is not documented.
   */
  stop(): Promise<void>;
}

/** Cheap hashes: what they cost is not what most tests are about. */
const cheapPasswords = { memory: '64KiB', iterations: 1 };

/** The engine that the gateways of this test run on: `POSTERN_TEST_ENGINE`, by default the built-in one. */
export const engine = process.env.POSTERN_TEST_ENGINE ?? 'built_in';

/** In how many processes the gateways of this test run that are processes: `POSTERN_TEST_WORKERS`, by default one. */
const workers = Number(process.env.POSTERN_TEST_WORKERS ?? 1);

/** The configuration of the tests; `overrides` replace whole top-level sections. */
export function testConfig(upstreamUrl: string, overrides: object = {}): object {
  const { listen, ...others } = overrides as { readonly listen?: object };
  return {
    tenant: 'acme',
    base_url: 'https://acme.example.com',
    trusted_proxies: [],
    listen: { host: '127.0.0.1', port: 0, engine, ...listen },
    management: { host: '127.0.0.1', port: 0 },
    stores: { records: 'sqlite:records.db', sessions: 'sqlite:sessions.db' },
    ...(workers === 1 ? {} : { workers }),
    passwords: cheapPasswords,
    bootstrap: { token: bootstrapToken },
    scopes: { 'store:read': 'Read assets', 'store:write': 'Change assets' },
    upstreams: { app: { url: upstreamUrl } },
    routes: [
      { prefix: '/api/store', upstream: 'app', scopes: { read: ['store:read'], write: ['store:write'] } },
      { prefix: '/api/open', upstream: 'app', public: true },
      { prefix: '/api', upstream: 'app' },
    ],
    ...others,
  };
}

/** Starts a gateway in this process. `folder`: that of another test gateway, to share its stores. */
export async function startTestGateway(
  t: TestScope,
  options: { readonly config?: object; readonly folder?: string; readonly showsEchoPage?: boolean } = {},
): Promise<TestGateway> {
  const folder = options.folder ?? makeTemporaryFolder('postern-test-');
  const secrets = createSecretWatch();
  secrets.add(bootstrapToken);
  const upstream = await startRecordingUpstream(secrets);
  const name = `gateway-${process.hrtime.bigint()}`;
  const configFile = join(folder, `${name}.yaml`);
  const logFile = join(folder, `${name}.log`);
  const load = (overrides: object | undefined): Config => {
    writeFileSync(configFile, stringify(testConfig(upstream.url, overrides)));
    const { config, problems } = loadConfig(configFile, process.env);
    if (config !== undefined) return config;
    throw new Error(problems.map((problem) => formatProblem(configFile, problem)).join('\n'));
  };
  let config: Config;
  try {
    config = load(options.config);
  } catch (error) {
    await upstream.close();
    throw error;
  }
  const logDescriptor = openSync(logFile, 'a');
  // Each line is in the file once it is logged: with the gateway's own writer, lines that a thread of the pool is just
  // writing would be missing from what a test reads.
  const log = createLogOn({ write: (line) => writeSync(logDescriptor, line) }, { level: config.log.level });
  let ahead = 0;
  const gateway: RunningGateway = await startGateway(config, log, {
    now: () => Date.now() + ahead,
    showsEchoPage: options.showsEchoPage ?? false,
  });
  let stopped: Promise<void> | null = null;
  const stop = () => {
    stopped ??= gateway.stop();
    return stopped;
  };
  const logLines = () =>
    readFileSync(logFile, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  t.teardown(async () => {
    await stop();
    await upstream.close();
    const leaks = secrets.leaks(logFile);
    if (leaks.length > 0) throw new Error(`${leaks.length} secrets in the log or in an error body`);
    const undocumented = auditProblems(logLines());
    if (undocumented.length > 0)
      throw new Error(`audit lines unlike docs/audit.md: ${undocumented.join('; ')}`);
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
  });
  return {
    port: gateway.opened.address.port,
    managementPort: gateway.opened.managementAddress.port,
    decisionPorts: gateway.opened.decisionAddresses.map(({ port }) => port),
    folder,
    configFile,
    upstream,
    api: createApiClient(gateway.opened.address.port, secrets, undefined, config.api_path),
    secrets,
    advance: (milliseconds) => {
      ahead += milliseconds;
    },
    reload: (overrides) => gateway.reload(load(overrides)),
    logLines,
    stop,
  };
}
