import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

/** Answers one request. */
export type StubResponse = (request: IncomingMessage, response: ServerResponse) => void;

/** A provider that answers as the test says, and counts. */
export interface StubProvider {
  /** `http://127.0.0.1:<port>`. */
  readonly origin: string;
  /** Path → answer; other paths are 404. */
  readonly responses: Map<string, StubResponse>;
  /** How often a path was asked for. */
  count(path: string): number;
}

/** Responses with a value as JSON. */
export function json(value: unknown, status = 200): StubResponse {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  };
}

/** Starts one on a free port; it ends with the test. */
export async function startStubProvider(t: Test): Promise<StubProvider> {
  const responses = new Map<string, StubResponse>();
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    counts.set(path, (counts.get(path) ?? 0) + 1);
    const respond = responses.get(path) ?? json({}, 404);
    respond(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, responses, count: (path) => counts.get(path) ?? 0 };
}

/** Makes it a provider with discovery and these keys; the issuer is its origin. */
export function publish(provider: StubProvider, keys: readonly object[], changes: object = {}): void {
  const { origin, responses } = provider;
  const discovery = {
    issuer: origin,
    authorization_endpoint: `${origin}/auth`,
    token_endpoint: `${origin}/token`,
    jwks_uri: `${origin}/jwks`,
    ...changes,
  };
  responses.set('/.well-known/openid-configuration', json(discovery));
  responses.set('/jwks', json({ keys }));
}
