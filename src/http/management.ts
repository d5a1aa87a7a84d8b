import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { MetricsRegistry } from '../metrics/registry.ts';

/** One dependency that `/readyz` reports. */
export interface Dependency {
  readonly name: string;
  /** How long the gateway stays ready without it, ms; Infinity if part of the service works without it. */
  readonly toleranceMs: number;
  /** Resolves when it responds. */
  readonly ping: () => Promise<void>;
  /** Since when it has been unavailable, by `performance.now()`; null or left out: only a ping can tell. */
  readonly unavailableSince?: () => number | null;
}

/** The result of checking one dependency. */
interface State {
  readonly name: string;
  readonly ok: boolean;
  readonly isTolerable: boolean;
}

/** The management listener: unauthenticated, meant for loopback or the pod network. */
export interface ManagementServer {
  listen(host: string, port: number): Promise<AddressInfo>;
  close(): Promise<void>;
}

/** Open connections at most: probes need no more, and all listeners share the limit of file descriptors. */
const maxConnections = 100;
/** Limit for receiving a whole request, and for an idle connection. */
const timeoutMs = 5_000;
const timeouts = {
  headersTimeout: timeoutMs,
  requestTimeout: timeoutMs,
  keepAliveTimeout: timeoutMs,
  connectionsCheckingInterval: 1_000,
};

/** Creates the listener for `/healthz`, `/readyz` and `/metrics`; other paths are 404. */
export function createManagementServer(options: {
  readonly metrics: Pick<MetricsRegistry, 'text' | 'contentType'>;
  readonly dependencies: readonly Dependency[];
  readonly isDraining: () => boolean;
}): ManagementServer {
  const { metrics, dependencies, isDraining } = options;

  const checks = dependencies.map(createCheck);

  async function readiness(): Promise<{ status: number; body: object }> {
    const states = await Promise.all(checks.map((check) => check()));
    const ready = states.every(({ isTolerable }) => isTolerable);
    const status = isDraining() ? 'draining' : ready ? 'ready' : 'not_ready';
    return {
      status: status === 'ready' ? 200 : 503,
      body: { status, dependencies: Object.fromEntries(states.map(({ name, ok }) => [name, { ok }])) },
    };
  }

  async function respond(path: string, response: ServerResponse): Promise<void> {
    switch (path) {
      case '/healthz':
        return json(response, 200, { status: 'ok' });
      case '/readyz': {
        const { status, body } = await readiness();
        return json(response, status, body);
      }
      case '/metrics': {
        const text = await metrics.text();
        response.writeHead(200, { 'Content-Type': metrics.contentType }).end(text);
        return;
      }
      default:
        return json(response, 404, { detail: 'Not found', code: 'not_found' });
    }
  }

  /** The least recently active connection comes first. */
  const open = new Set<Socket>();
  const server = createServer(timeouts, (request, response) => {
    if (open.delete(request.socket)) open.add(request.socket);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      return json(response, 405, { detail: 'Method not allowed', code: 'method_not_allowed' });
    }
    const path = request.url!.split('?', 1)[0]!;
    respond(path, response).catch(() =>
      json(response, 500, { detail: 'Internal error', code: 'internal_error' }),
    );
  });

  server.setTimeout(2 * timeoutMs);
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    // The oldest is closed, not the newest: a client that opens all of them can't keep probes out.
    if (open.size > maxConnections) open.values().next().value?.destroy();
  });

  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          resolve(server.address() as AddressInfo);
        });
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function createCheck({ name, toleranceMs, ping, unavailableSince }: Dependency): () => Promise<State> {
  let failingSince: number | null = null;

  return async () => {
    const at = performance.now();
    try {
      await ping();
      failingSince = null;
      return { name, ok: true, isTolerable: true };
    } catch {
      failingSince ??= at;
      const since = Math.min(failingSince, unavailableSince?.() ?? failingSince);
      return { name, ok: false, isTolerable: performance.now() - since < toleranceMs };
    }
  };
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  response.end(JSON.stringify(body));
}
