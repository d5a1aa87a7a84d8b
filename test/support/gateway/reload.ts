import type { ApiResponse } from '../clients/api-client.ts';
import { eventually } from '../eventually.ts';
import { administrator, bootstrapToken, type TestScope } from './gateway.ts';
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts';
import { scrape } from './scrape.ts';

/** A gateway process that is told to read its configuration again, with credentials for it. */
export interface ReloadedGateway extends GatewayProcess {
  /** A key that holds `store:write`. */
  readonly key: string;
  /** An access token of the administrator. */
  readonly bearer: string;
  /** Writes another configuration and sends SIGHUP; what comes of it is seen a moment later. */
  reload(config: object): void;
  /** Asks with the key, on a connection of its own. */
  ask(path?: string, headers?: Record<string, string>): Promise<ApiResponse>;
  statusOf(path?: string): Promise<number>;
  /** How many reloads came to that. */
  reloads(outcome: 'applied' | 'failed'): Promise<number>;
}

/** Routes where any credential will do, and where the key's will not. */
export const openRoutes = [{ prefix: '/api', upstream: 'app' }];
export const closedRoutes = [{ prefix: '/api', upstream: 'app', scopes: ['store:read'] }];

/** Starts one, by default with the open routes to the built-in echo, and signs in. */
export async function startReloaded(t: TestScope, config: object = {}): Promise<ReloadedGateway> {
  const gateway = await startGatewayProcess(t, { config: { routes: openRoutes, ...config } });
  const { api } = gateway;
  const { username, password } = administrator;
  await api.activate(username, password, bootstrapToken);
  const { accessToken: bearer } = await api.signIn(username, password);
  const { key } = await api.mintKey(bearer, { label: 'k', scopes: ['store:write'] });
  const ask: ReloadedGateway['ask'] = (path = '/api/x', headers = {}) =>
    api.send({ path, headers, apiKey: key });
  return {
    ...gateway,
    key,
    bearer,
    ask,
    reload: (next) => reload(gateway, { routes: openRoutes, ...next }),
    statusOf: async (path) => (await ask(path)).status,
    reloads: async (outcome) =>
      (await scrape(gateway.managementPort)).value('config_reloads_total', { outcome }),
  };
}

/** Writes another configuration and sends SIGHUP. */
export function reload(gateway: GatewayProcess, config: object): void {
  gateway.configure(config);
  process.kill(gateway.pid!, 'SIGHUP');
}

/** Resolves once the log has the warning that exactly these keys need a restart. */
export async function keysAreNamed({ logLines }: GatewayProcess, keys: readonly string[]): Promise<void> {
  const wanted = JSON.stringify(keys);
  await eventually(`the warning of ${wanted}`, () =>
    logLines().some((line) => line.level === 'warn' && JSON.stringify(line.keys) === wanted),
  );
}

/** The value of a header that the built-in echo received; undefined when it got none. */
export function echoed({ json }: Pick<ApiResponse, 'json'>, name: string): string | undefined {
  const headers: [string, string][] = json.headers;
  return headers.find(([given]) => given.toLowerCase() === name)?.[1];
}
