import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { MetricsRegistry } from '../metrics/registry.ts';

/** One dependency that `/readyz` tells of. */
export interface Dependency {
  readonly name: string;
  /** For how long it may be away while the gateway stays ready, ms; infinity: something always works without it. */
  readonly toleranceMs: number;
  /** Resolves when it answers. */
  readonly ping: () => Promise<void>;
  /** Since when it has been away, as by `performance.now()`; null or left out: that shows only when it is pinged. */
  readonly unavailableSince?: () => number | null;
}

/** What a probe found of a dependency. */
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

/** Connections that may be open: probes and scrapers need no more, and the listeners share the limit of descriptors. */
const maxConnections = 100;
/** For a request to come whole, the next one to begin, and a response to be taken. */
const longestWaitMs = 5_000;
const patience = {
  headersTimeout: longestWaitMs,
  requestTimeout: longestWaitMs,
  keepAliveTimeout: longestWaitMs,
  connectionsCheckingInterval: 1_000,
};

/** Builds `/healthz`, `/readyz` and `/metrics`; other paths are 404. */
export function createManagementServer(options: {
  readonly metrics: Pick<MetricsRegistry, 'text' | 'contentType'>;
  readonly dependencies: readonly Dependency[];
  readonly isDraining: () => boolean;
}): ManagementServer {
  const { metrics, dependencies, isDraining } = options;

  const looks = dependencies.map(createLook);

  async function readiness(): Promise<{ status: number; body: object }> {
    const states = await Promise.all(looks.map((look) => look()));
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

  /** That which asked longest ago, or never did, comes first. */
  const open = new Set<Socket>();
  const server = createServer(patience, (request, response) => {
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

  server.setTimeout(2 * longestWaitMs);
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    // The oldest goes, not the newest: whoever holds all of them can't keep a probe out.
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

function createLook({ name, toleranceMs, ping, unavailableSince }: Dependency): () => Promise<State> {
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
