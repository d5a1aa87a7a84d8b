import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { ApiResponse } from '../clients/api-client.ts';
import { eventually } from '../eventually.ts';
import { administrator, bootstrapToken, type TestScope } from './gateway.ts';
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts';
import { isLong } from './gateway-under-load.ts';

/** By how much a promised time may be exceeded on a busy machine: in the long run not at all. */
export const leeway = isLong ? 1 : 3;

/** Limits that no test reaches. */
const unthrottled = { per_account_and_address: 1e6, per_account: 1e6, per_address: 1e6 };

/** The configuration of a gateway of {@link startReplicas}; `stores` is added to the addresses. */
export type ReplicaConfig = Readonly<Record<string, unknown>> & { readonly stores?: object };

/** Starts a gateway on that session store; `folder`: that of another gateway, to share its records. */
export function startReplica(
  t: TestScope,
  address: string,
  { stores, ...config }: ReplicaConfig = {},
  folder?: string,
): Promise<GatewayProcess> {
  const sections = { login_throttle: unthrottled, shutdown: { timeout: '50ms' }, ...config };
  const all = { ...sections, stores: { records: 'sqlite:records.db', sessions: address, ...stores } };
  return startGatewayProcess(t, { config: all, ...(folder === undefined ? {} : { folder }) });
}

/** Starts a gateway for each address of a session store, on one records file with an administrator. */
export async function startReplicas<A extends readonly [string, ...string[]]>(
  t: TestScope,
  addresses: A,
  config: ReplicaConfig = {},
): Promise<{ [K in keyof A]: GatewayProcess }> {
  const [address, ...others] = addresses;
  const first = await startReplica(t, address, config);
  const { username, password } = administrator;
  await first.api.activate(username, password, bootstrapToken);
  const more = await Promise.all(others.map((other) => startReplica(t, other, config, first.folder)));
  return [first, ...more] as { [K in keyof A]: GatewayProcess };
}

/** The refresh cookie of a response as `name=value`. Throws if there is none. */
export function cookieOf({ status, setCookies }: ApiResponse): string {
  const [cookie] = setCookies;
  if (cookie === undefined) throw new Error(`a ${status} without a cookie`);
  return cookie.split(';', 1)[0]!;
}

/** The contents of a refresh cookie; its MAC must not be found anywhere. */
export function partsOf(cookie: string): {
  readonly id: string;
  readonly generation: number;
  readonly mac: string;
} {
  const [id, generation, mac] = cookie.slice(cookie.indexOf('=') + 1).split('.');
  return { id: id!, generation: Number(generation), mac: mac! };
}

/** The key under which the session store keeps a cookie's session. */
export function sessionKey(cookie: string, tenant = 'acme'): string {
  return `postern:${tenant}:session:{${partsOf(cookie).id}}`;
}

/** Statuses of the responses to a bearer token and to cookies, at that gateway. */
export async function statusesAt(
  { api }: GatewayProcess,
  bearers: readonly string[],
  cookies: readonly string[],
): Promise<number[]> {
  const sent = [
    ...bearers.map((bearer) => api.send({ path: '/api/store/x', bearer })),
    ...cookies.map((cookie) => api.refresh(cookie)),
  ];
  return (await Promise.all(sent)).map(({ status }) => status);
}

/**
 * Judges that a session that ended at `sinceMs` (of `performance.now()`) is over at every gateway: none of its cookies
 * works from then on, no bearer token after a second. Gives how long that took at most.
 */
export async function judgeOver(
  t: Test,
  gateways: readonly GatewayProcess[],
  { bearers, cookies }: { readonly bearers: readonly string[]; readonly cookies: readonly string[] },
  sinceMs: number,
): Promise<number> {
  const over = await Promise.all(
    gateways.map(async (gateway) => {
      const refused = await statusesAt(gateway, [], cookies);
      if (refused.some((status) => status !== 401)) t.fail(`cookies were answered ${refused}`);
      await eventually('none of its bearer tokens works', async () => {
        const statuses = await statusesAt(gateway, bearers, []);
        return statuses.every((status) => status === 401);
      });
      return performance.now() - sinceMs;
    }),
  );
  const tookMs = Math.max(...over);
  if (tookMs >= 1_000 * leeway) t.fail(`a bearer token worked for ${Math.round(tookMs)} ms`);
  for (const gateway of gateways) {
    const statuses = await statusesAt(gateway, bearers, cookies);
    if (statuses.some((status) => status !== 401)) t.fail(`it is alive again: ${statuses}`);
  }
  return tookMs;
}

/** The logs of all gateways of a folder. */
export function logText(folder: string): string {
  const files = readdirSync(folder).filter((name) => name.endsWith('.log'));
  return files.map((name) => readFileSync(join(folder, name), 'utf8')).join('');
}

/** The audit lines of an event in the logs of all gateways of a folder. */
export function auditLines(folder: string, event: string): Record<string, unknown>[] {
  const lines = logText(folder).split('\n');
  return lines
    .filter((line) => line.includes(`"event":"${event}"`) && line.endsWith('}'))
    .map((line) => JSON.parse(line));
}
