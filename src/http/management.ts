import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type RefusalCode, refusals } from '../errors.ts';
import { createServer } from '../http1/message/node-http.ts';
import { listen } from '../http1/server/listen.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import type { ReadReadiness } from './readiness.ts';
import { isRequestId } from './request-head.ts';

/** Time limit for receiving a whole request, and for an idle connection. */
const timeoutMs = 5_000;
const timeouts = {
  headersTimeout: timeoutMs,
  requestTimeout: timeoutMs,
  keepAliveTimeout: timeoutMs,
  connectionsCheckingInterval: 1_000,
};

/** Sources of the management listener's responses, and its limit on connections. */
export interface ManagementOptions {
  readonly metrics: Pick<MetricsRegistry, 'text' | 'contentType'>;
  readonly readiness: ReadReadiness;
  /** The public keys of assertions, for services that can't reach the public listener; null: there are none yet. */
  readonly assertionKeys: () => Promise<object | null>;
  /** Maximum number of open connections: probes need few, and all listeners share the limit of file descriptors. */
  readonly maxConnections: number;
}

/** The management listener, unauthenticated, for loopback or the pod network: health, readiness, metrics, assertion keys. */
export class ManagementServer {
  readonly #options: ManagementOptions;
  readonly #server: Server;
  /** The open connections, the least recently active first. */
  readonly #open = new Set<Socket>();

  constructor(options: ManagementOptions) {
    this.#options = options;
    this.#server = createServer(timeouts, (request, response) => this.#serve(request, response));
    this.#server.setTimeout(2 * timeoutMs);
    this.#server.on('connection', (socket) => this.#accept(socket));
  }

  listen(host: string, port: number): Promise<AddressInfo> {
    return listen(this.#server, { port, host });
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
    if (this.#open.size > this.#options.maxConnections) this.#open.values().next().value?.destroy();
  }

  #serve({ socket, method, url = '', headers }: IncomingMessage, response: ServerResponse): void {
    if (this.#open.delete(socket)) this.#open.add(socket);
    // Node joins repeated fields with a comma, which no request id contains.
    const sent = headers['x-request-id'];
    const id = typeof sent === 'string' && isRequestId(sent) ? sent : randomUUID();
    response.setHeader('X-Request-Id', id);
    if (method !== 'GET' && method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      refuse(response, id, 'method_not_allowed');
      return;
    }
    const [path = ''] = url.split('?', 1);
    this.#respond(path, id, response).catch(() => refuse(response, id, 'internal_error'));
  }

  async #respond(path: string, id: string, response: ServerResponse): Promise<void> {
    switch (path) {
      case '/healthz':
        return json(response, 200, { status: 'ok' });
      case '/readyz': {
        const readiness = await this.#options.readiness();
        return json(response, readiness.status === 'ready' ? 200 : 503, readiness);
      }
      case '/metrics': {
        const text = await this.#options.metrics.text();
        const headers = { 'Content-Type': this.#options.metrics.contentType, 'Cache-Control': 'no-store' };
        response.writeHead(200, headers).end(text);
        return;
      }
      case '/.well-known/postern-assertion-jwks.json': {
        const keys = await this.#options.assertionKeys();
        return keys === null
          ? refuse(response, id, 'store_unavailable')
          : json(response, 200, keys, 'public, max-age=300');
      }
      default:
        return refuse(response, id, 'not_found');
    }
  }
}

function refuse(response: ServerResponse, id: string, code: RefusalCode): void {
  const { status, detail } = refusals[code];
  if (status === 503) response.setHeader('Retry-After', '1');
  json(response, status, { detail, code, request_id: id });
}

function json(response: ServerResponse, status: number, body: object, cacheControl = 'no-store'): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': cacheControl });
  response.end(JSON.stringify(body));
}
