import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { connectRaw, type RawConnection, type RawResponse } from '../clients/raw-client.ts';
import { administrator, bootstrapToken } from './gateway.ts';
import { startGatewayProcess } from './gateway-process.ts';
import { mainFile } from './main-file.ts';
import { scrape } from './scrape.ts';

/** An upstream that keeps connections open, holds every response to `/…/held` back, and agrees to every upgrade. */
export interface HoldingUpstream {
  readonly url: string;
  /** How many requests wait for their response. */
  readonly held: number;
  /** Responds to all that wait, and to those to come at once. */
  release(): void;
}

/** Starts it on a free port. */
export async function startHoldingUpstream(t: Test): Promise<HoldingUpstream> {
  const waiting: ServerResponse[] = [];
  let isHolding = true;
  const server = createServer((request, response) => {
    if (request.url!.endsWith('/held') && isHolding) waiting.push(response);
    else response.end('served');
  });
  server.on('upgrade', (_request, socket) => {
    socket.on('error', () => {});
    socket.on('end', () => socket.end());
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  });
  // Longer than any test: only Postern closes its connections.
  server.keepAliveTimeout = 600_000;
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', 1_024, resolve);
  });
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get held() {
      return waiting.length;
    },
    release() {
      isHolding = false;
      for (const response of waiting.splice(0)) response.end('served');
    },
  };
}

/** A gateway that may have few descriptors. */
export interface NarrowGateway {
  readonly managementPort: number;
  /** Connects so many clients at the same time: those that got an answer to a first request, the others are closed. */
  crowd(count: number): Promise<RawConnection[]>;
  /** Sends a request with an API key on a connection there is; `more`: further header lines. */
  ask(connection: RawConnection, path: string, more?: readonly string[]): Promise<RawResponse>;
  /** The sum of a metric's samples with those labels. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>;
  /** All log lines with that message. */
  lines(message: string): Record<string, unknown>[];
}

/** Starts a gateway process whose limit, soft and hard, is `descriptors`; `config` as for `testConfig`. */
export async function startNarrowGateway(
  t: Test,
  descriptors: number,
  config: object,
): Promise<NarrowGateway> {
  const limited = ['sh', '-c', `ulimit -n ${descriptors} && exec "$@"`, 'sh', process.execPath, mainFile];
  const { port, managementPort, api, logLines } = await startGatewayProcess(t, {
    config,
    program: ['env', '-u', 'NODE_OPTIONS', ...limited],
  });
  const { username, password } = administrator;
  await api.activate(username, password, bootstrapToken);
  const { accessToken } = await api.signIn(username, password);
  const { key } = await api.mintKey(accessToken, { label: 'k', scopes: ['store:read'] });

  function ask(connection: RawConnection, path: string, more: readonly string[] = []): Promise<RawResponse> {
    const lines = [`GET ${path} HTTP/1.1`, 'Host: acme.example.com', `X-API-Key: ${key}`, ...more];
    connection.write(`${lines.join('\r\n')}\r\n\r\n`);
    return connection.response();
  }

  async function crowd(count: number): Promise<RawConnection[]> {
    const all = await Promise.all(Array.from({ length: count }, () => connectRaw(port)));
    const isServed = await Promise.all(
      all.map((connection) =>
        ask(connection, '/nowhere').then(
          ({ status }) => status === 404,
          () => false,
        ),
      ),
    );
    return all.filter((_, index) => isServed[index]);
  }

  return {
    managementPort,
    crowd,
    ask,
    metric: async (name, labels = {}) => (await scrape(managementPort)).value(name, labels),
    lines: (message) => logLines().filter(({ msg }) => msg === message),
  };
}

/** Of the responses, how many have each status. */
export function tally(responses: readonly { readonly status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
