import { administrator, bootstrapToken, type TestScope } from '../gateway/gateway.ts';
import { type GatewayProcess, startGatewayProcess } from '../gateway/gateway-process.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../servers/recording-upstream.ts';

/** A gateway process before an upstream that records, with credentials that are good. */
export interface CorpusBench {
  readonly gateway: GatewayProcess;
  readonly upstream: RecordingUpstream;
  /** The process id at the start: it must stay the same. */
  readonly pid: number;
  /** The values of placeholders. */
  readonly values: Readonly<Record<string, string>>;
  /** The `X-Auth-*` and configured headers that the upstream must see of each kind of caller, by name as Postern writes it. */
  readonly identities: Readonly<Record<CorpusCaller, Readonly<Record<string, string>>>>;
}

/** Who sends a row. */
export type CorpusCaller = 'key' | 'session' | 'nobody';

/** Headers that the configuration adds for each kind of caller, by name. */
export type AddedHeaders = Readonly<Record<CorpusCaller, Readonly<Record<string, string>>>>;

const nothingAdded: AddedHeaders = { key: {}, session: {}, nobody: {} };

const scopes = ['apikeys:read', 'store:read', 'store:write'];

/** Starts them; `config` replaces whole top-level sections, `settingsOf` gives the settings of the upstream at that url. */
export async function startCorpusBench(
  t: TestScope,
  config: object = {},
  settingsOf: (url: string) => object = (url) => ({ url }),
  added: AddedHeaders = nothingAdded,
): Promise<CorpusBench> {
  const upstream = await startRecordingUpstream();
  t.teardown(() => upstream.close());
  const gateway = await startGatewayProcess(t, {
    config: {
      upstreams: { app: settingsOf(upstream.url) },
      // An incomplete message is refused within the time of the test, and one in pieces is complete by then.
      limits: { header_timeout: '3s', body_idle_timeout: '3s' },
      ...config,
    },
  });
  const { username, password } = administrator;
  await gateway.api.activate(username, password, bootstrapToken);
  const { accessToken, cookie } = await gateway.api.signIn(username, password);
  const { key, id, created_by } = await gateway.api.mintKey(accessToken, { label: 'corpus', scopes });
  const claims = JSON.parse(Buffer.from(accessToken.split('.')[1]!, 'base64url').toString());
  const common = {
    'X-Auth-Subject': created_by.id,
    'X-Auth-Username': username,
    'X-Auth-Tenant': 'acme',
  };
  return {
    gateway,
    upstream,
    pid: gateway.pid!,
    values: {
      key,
      bearer: accessToken,
      cookie,
      host: 'gateway.example',
      good: 'Host: {{host}}\r\nX-API-Key: {{key}}\r\n',
      smuggled: 'GET /api/store/smuggled HTTP/1.1\r\n{{good}}\r\n',
      evil: 'evil@client',
    },
    identities: {
      key: {
        ...common,
        ...added.key,
        'X-Auth-Method': 'api_key',
        'X-Auth-Scopes': scopes.join(' '),
        'X-Auth-Key-Id': id,
      },
      session: {
        ...common,
        ...added.session,
        'X-Auth-Method': 'session',
        'X-Auth-Scopes': claims.scope,
        'X-Auth-Session-Id': claims.sid,
      },
      nobody: added.nobody,
    },
  };
}
