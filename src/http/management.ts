import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from '../http1/node-http.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import type { ReadReadiness } from './readiness.ts';

/** Limit for receiving a whole request, and for an idle connection. */
const timeoutMs = 5_000;
const timeouts = {
  headersTimeout: timeoutMs,
  requestTimeout: timeoutMs,
  keepAliveTimeout: timeoutMs,
  connectionsCheckingInterval: 1_000,
};

/** What the management listener reports. */
export interface ManagementOptions {
  readonly metrics: Pick<MetricsRegistry, 'text' | 'contentType'>;
  readonly readiness: ReadReadiness;
  /** The public keys of assertions, for services that can't reach the public listener; null: there are none yet. */
  readonly assertionKeys: () => Promise<object | null>;
  /** Open connections at most: probes need few, and all listeners share the limit of file descriptors. */
  readonly maxConnections: number;
}

/**
 * The management listener, unauthenticated, meant for loopback or the pod network: `/healthz`, `/readyz`, `/metrics` and
 * the public keys of assertions; other paths are 404.
 */
export class ManagementServer {
  readonly #metrics: ManagementOptions['metrics'];
  readonly #readiness: ReadReadiness;
  readonly #assertionKeys: ManagementOptions['assertionKeys'];
  readonly #server: Server;
  readonly #maxConnections: number;
  /** The least recently active connection comes first. */
  readonly #open = new Set<Socket>();

  constructor({ metrics, readiness, assertionKeys, maxConnections }: ManagementOptions) {
    this.#metrics = metrics;
    this.#readiness = readiness;
    this.#assertionKeys = assertionKeys;
    this.#maxConnections = maxConnections;
    this.#server = createServer(timeouts, (request, response) => this.#serve(request, response));
    this.#server.setTimeout(2 * timeoutMs);
    this.#server.on('connection', (socket) => this.#accept(socket));
  }

  listen(host: string, port: number): Promise<AddressInfo> {
    const server = this.#server;
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, () => {
        server.off('error', reject);
        resolve(server.address() as AddressInfo);
      });
    });
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  #accept(socket: Socket): void {
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
    // The oldest is closed, not the newest: a client that opens all of them can't keep probes out.
    if (this.#open.size > this.#maxConnections) this.#open.values().next().value?.destroy();
  }

  #serve({ socket, method, url = '' }: IncomingMessage, response: ServerResponse): void {
    if (this.#open.delete(socket)) this.#open.add(socket);
    if (method !== 'GET' && method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      json(response, 405, { detail: 'Method not allowed', code: 'method_not_allowed' });
      return;
    }
    const [path = ''] = url.split('?', 1);
    this.#respond(path, response).catch(() =>
      json(response, 500, { detail: 'Internal error', code: 'internal_error' }),
    );
  }

  async #respond(path: string, response: ServerResponse): Promise<void> {
    switch (path) {
      case '/healthz':
        return json(response, 200, { status: 'ok' });
      case '/readyz': {
        const readiness = await this.#readiness();
        return json(response, readiness.status === 'ready' ? 200 : 503, readiness);
      }
      case '/metrics': {
        const text = await this.#metrics.text();
        response.writeHead(200, { 'Content-Type': this.#metrics.contentType }).end(text);
        return;
      }
      case '/.well-known/postern-assertion-jwks.json': {
        const keys = await this.#assertionKeys();
        if (keys === null)
          return json(response, 503, { detail: 'Store unavailable', code: 'store_unavailable' });
        return json(response, 200, keys, 'public, max-age=300');
      }
      default:
        return json(response, 404, { detail: 'Not found', code: 'not_found' });
    }
  }
}

function json(response: ServerResponse, status: number, body: object, cacheControl = 'no-store'): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': cacheControl });
  response.end(JSON.stringify(body));
}
