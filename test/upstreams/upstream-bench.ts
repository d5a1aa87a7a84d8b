import type { Test } from 'tap';
import { eventually } from '../support/eventually.ts';
import { administrator, bootstrapToken } from '../support/gateway/gateway.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { routesTo } from './handlers.ts';
import { type RealServer, type SeenByHandler, type ServerKind, startRealServer } from './real-server.ts';

/** The gateway before a real server, with credentials of somebody who holds everything and of one who does not. */
export interface UpstreamBench {
  readonly gateway: GatewayProcess;
  readonly server: RealServer;
  /** What placeholders of rows stand for. */
  readonly values: Readonly<Record<string, string>>;
  /** The `X-Auth-*` headers of a credential, by its id in the access log; of nobody by the empty id. */
  readonly identities: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** The key that holds `admin:all`. */
  readonly adminKey: { readonly key: string; readonly id: string };
  /** All that the handlers recorded and the gateway logged, once a request sent now is among it. */
  settled(): Promise<{ readonly seen: SeenByHandler[]; readonly lines: AccessLine[] }>;
}

/** A line of the gateway's access log. */
export interface AccessLine {
  readonly request_id: string;
  readonly path: string;
  readonly route?: string;
  readonly method?: string;
  readonly key?: string;
  readonly session?: string;
}

const lowScopes = ['store:read', 'store:write'];
const allScopes = ['admin:all', ...lowScopes];

/** Starts both; `config` replaces whole top-level sections of the gateway's, but for `upstreams`. */
export async function startUpstreamBench(
  t: Test,
  kind: ServerKind,
  config: { readonly upstream?: object; readonly [section: string]: unknown } = {},
): Promise<UpstreamBench> {
  const server = await startRealServer(t, kind);
  const { upstream, ...sections } = config;
  const gateway = await startGatewayProcess(t, {
    config: {
      scopes: { 'store:read': 'Read', 'store:write': 'Write', 'admin:all': 'Everything' },
      upstreams: { app: { url: `http://127.0.0.1:${server.port}`, ...upstream } },
      routes: routesTo('app'),
      limits: { header_timeout: '1s', body_idle_timeout: '1s' },
      ...sections,
    },
  });
  const { username, password } = administrator;
  await gateway.api.activate(username, password, bootstrapToken);
  const all = await gateway.api.signIn(username, password);
  const low = await gateway.api.signIn(username, password, { scope: lowScopes.join(' ') });
  const lowKey = await gateway.api.mintKey(all.accessToken, { label: 'low', scopes: lowScopes });
  const adminKey = await gateway.api.mintKey(all.accessToken, { label: 'all', scopes: allScopes });
  const { sid, sub } = JSON.parse(Buffer.from(low.accessToken.split('.')[1]!, 'base64url').toString());
  const common = { 'x-auth-subject': sub, 'x-auth-username': username, 'x-auth-tenant': 'acme' };
  const keyIdentity = (id: string, scopes: readonly string[]) => ({
    ...common,
    'x-auth-method': 'api_key',
    'x-auth-scopes': scopes.join(' '),
    'x-auth-key-id': id,
  });
  const identities = new Map<string, Record<string, string>>([
    ['', {}],
    [lowKey.id, keyIdentity(lowKey.id, lowScopes)],
    [adminKey.id, keyIdentity(adminKey.id, allScopes)],
    [
      sid,
      {
        ...common,
        'x-auth-method': 'session',
        'x-auth-scopes': lowScopes.join(' '),
        'x-auth-session-id': sid,
      },
    ],
  ]);
  let markers = 0;
  return {
    gateway,
    server,
    values: {
      key: lowKey.key,
      bearer: low.accessToken,
      cookie: low.cookie,
      host: 'gateway.example',
      row: '0',
      'admin-id': sub,
      'admin-key-id': adminKey.id,
      good: 'Host: {{host}}\r\nX-API-Key: {{key}}\r\nX-Row: {{row}}\r\n',
      nobody: 'Host: {{host}}\r\nX-Row: {{row}}\r\n',
      identity:
        'X-Auth-Subject: {{admin-id}}\r\nX-Auth-Scopes: admin:all\r\nX-Auth-Method: api_key\r\nX-Auth-Key-Id: {{admin-key-id}}\r\n',
      smuggled: 'GET /api/open/strict/smuggled HTTP/1.1\r\n{{nobody}}{{identity}}\r\n',
      evil: 'evil@client',
    },
    identities,
    adminKey,
    async settled() {
      const path = `/api/open/marker-${markers++}`;
      const { status } = await gateway.api.send({ path });
      if (status !== 200) throw new Error(`a good request was answered ${status}`);
      return eventually('the record of a request just made', () => {
        const seen = server.seen();
        const lines = gateway.logLines().filter(({ msg }) => msg === 'request') as object[] as AccessLine[];
        return [seen, lines].every((list) => list.some((entry) => entry.path === path)) && { seen, lines };
      });
    },
  };
}
