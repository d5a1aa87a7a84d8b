import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPostgresRecords, type PostgresRecords } from '../../../src/stores/postgres/records.ts';
import { connectRaw } from '../clients/raw-client.ts';
import { administrator, bootstrapToken, type TestScope } from '../gateway/gateway.ts';
import type { GatewayProcess } from '../gateway/gateway-process.ts';
import { type ReplicaConfig, startReplica } from '../gateway/replicas.ts';
import { respondWithoutEnd } from '../servers/event-stream.ts';
import { startHttpUpstream } from '../servers/http-upstream.ts';
import { postgresAddress } from './store-addresses.ts';

const sessions = 'sqlite:sessions.db';

/** Creates a folder in which gateways share their sessions; it is removed after the test, after them. */
export function makeReplicaFolder(t: TestScope): string {
  const folder = mkdtempSync(join(tmpdir(), 'postern-test-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts a gateway on that records store, sharing its sessions with the others of the folder. */
export function startPostgresReplica(
  t: TestScope,
  records: string,
  folder: string,
  { stores, ...config }: ReplicaConfig = {},
): Promise<GatewayProcess> {
  return startReplica(t, sessions, { ...config, stores: { records, ...stores } }, folder);
}

/** Starts a gateway for each address of one records store, all at once; no user is activated. */
export async function startPostgresReplicas<A extends readonly [string, ...string[]]>(
  t: TestScope,
  addresses: A,
  config: ReplicaConfig = {},
): Promise<{ [K in keyof A]: GatewayProcess }> {
  const folder = makeReplicaFolder(t);
  const starts = addresses.map((address) => startPostgresReplica(t, address, folder, config));
  return (await Promise.all(starts)) as { [K in keyof A]: GatewayProcess };
}

/** Activates the administrator and gives an access token. */
export async function activate({ api }: GatewayProcess): Promise<string> {
  const { username, password } = administrator;
  const { status, text } = await api.activate(username, password, bootstrapToken);
  if (status !== 201) throw new Error(`the activation was answered ${status} ${text}`);
  return (await api.signIn(username, password)).accessToken;
}

/** The records as another process opens them: its changes are made by no gateway. */
export async function withPostgresRecords<T>(
  url: string,
  work: (records: PostgresRecords) => Promise<T>,
): Promise<T> {
  const records = await openPostgresRecords({
    access: { address: postgresAddress(url) },
    now: Date.now,
    maxConnections: 2,
    timeoutMs: 1_800,
  });
  try {
    return await work(records);
  } finally {
    await records.close();
  }
}

/** A configuration with an upstream whose responses to {@link openStream} don't end. */
export async function startStreaming(t: TestScope): Promise<ReplicaConfig> {
  const events = await startHttpUpstream(t, respondWithoutEnd);
  const scopes = { read: ['store:read'] };
  return {
    upstreams: { events: { url: events.url }, app: { url: 'builtin:echo' } },
    routes: [
      { prefix: '/api/store/events', upstream: 'events', scopes },
      { prefix: '/api/store', upstream: 'app', scopes },
      { prefix: '/api', upstream: 'app' },
    ],
  };
}

/** A stream under a credential, on a route that requires `store:read`. */
export interface OpenStream {
  readonly isOpen: boolean;
  /** When it ended, by `performance.now()`. */
  readonly endedAtMs: Promise<number>;
  close(): void;
}

/** Opens it with that header line; its response has started when this resolves. */
export async function openStream({ port }: GatewayProcess, credential: string): Promise<OpenStream> {
  const connection = await connectRaw(port);
  let isOpen = true;
  const endedAtMs = connection.closed.then(() => {
    isOpen = false;
    return performance.now();
  });
  connection.write(`GET /api/store/events HTTP/1.1\r\nHost: gateway\r\n${credential}\r\n\r\n`);
  await connection.received('data: 1');
  return {
    get isOpen() {
      return isOpen;
    },
    endedAtMs,
    close: () => connection.reset(),
  };
}
