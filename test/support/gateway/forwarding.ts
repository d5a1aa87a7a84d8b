import { connectRaw } from '../clients/raw-client.ts';
import {
  administrator,
  bootstrapToken,
  startTestGateway,
  type TestGateway,
  type TestScope,
} from './gateway.ts';

/** A gateway with a signed-in administrator and an API key of theirs. */
export interface Forwarding extends TestGateway {
  readonly bearer: string;
  /** `name=value` of the refresh cookie. */
  readonly cookie: string;
  readonly key: string;
  readonly keyId: string;
  /** The bytes of a request with `Host` and the key, then those lines, then the body. */
  raw(requestLine: string, lines?: readonly string[], body?: string): string;
  /** Whether a valid request on a new connection is forwarded and gets 200. */
  stillServes(): Promise<boolean>;
}

/** Starts the gateway and signs in; `config` replaces whole top-level sections. */
export async function startForwarding(
  t: TestScope,
  config: object = {},
  more: { readonly folder?: string } = {},
): Promise<Forwarding> {
  const gateway = await startTestGateway(t, { config, ...more });
  const { username, password } = administrator;
  await gateway.api.activate(username, password, bootstrapToken);
  const { accessToken, cookie } = await gateway.api.signIn(username, password);
  const minted = await gateway.api.mintKey(accessToken, {
    label: 'all',
    scopes: ['store:read', 'store:write', 'apikeys:read'],
  });
  const raw: Forwarding['raw'] = (requestLine, lines = [], body = '') =>
    [requestLine, 'Host: gateway.example', `X-API-Key: ${minted.key}`, ...lines, '', body].join('\r\n');
  return {
    ...gateway,
    bearer: accessToken,
    cookie,
    key: minted.key,
    keyId: minted.id,
    raw,
    async stillServes() {
      const connection = await connectRaw(gateway.port);
      connection.write(raw('GET /api/store/still HTTP/1.1'));
      const { status } = await connection.response();
      connection.reset();
      return status === 200;
    },
  };
}

/** Resolves once the condition holds; rejects after `milliseconds`. */
export async function eventually(condition: () => boolean, milliseconds = 60_000): Promise<void> {
  const deadline = Date.now() + milliseconds;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('it did not come to pass');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
