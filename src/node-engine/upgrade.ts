import { Agent, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';
import { createProxyServer } from 'http-proxy-3';
import type { UpstreamRequest } from '../http1/client-request.ts';
import { MalformedMessage } from '../http1/message-head.ts';
import { upgradeNamedIn } from '../http1/response-framing.ts';

/** What comes of asking an upstream for another protocol; `fields` and `trailers` are names and values in turn. */
export interface UpgradeEvents {
  onSwitch(fields: string[], socket: Duplex): void;
  /** Any other response. */
  onHead(status: number, fields: string[]): void;
  onData(chunk: Buffer): void;
  onEnd(trailers: string[]): void;
  onError(error: Error): void;
}

/** Gives http-proxy-3 the one socket it may use. */
class OneSocket extends Agent {
  readonly #socket: Socket;

  constructor(socket: Socket) {
    super();
    this.#socket = socket;
  }

  override createConnection(): Duplex {
    return this.#socket;
  }
}

/**
 * Asks an upstream for another protocol, by http-proxy-3. It is given our request in place of the client's and one end of
 * a pair in place of the client's socket: what may pass is for the same rules to say as in the built-in engine.
 */
export function requestUpgrade(
  request: UpstreamRequest,
  socket: Socket,
  events: UpgradeEvents,
): { pause(): void; resume(): void } {
  const [near, far] = duplexPair();
  let response: IncomingMessage | null = null;
  const proxy = createProxyServer({
    target: { protocol: 'http:', host: 'upstream', port: 80 },
    agent: new OneSocket(socket),
    headers: groupedHeaders(request.fields),
    method: request.method,
    ignorePath: true,
  });
  proxy.on('proxyReqWs', (outgoing: ClientRequest) => {
    outgoing.path = request.target;
    outgoing.on('information', ({ statusCode, rawHeaders }) =>
      attempt(() => events.onHead(statusCode, rawHeaders)),
    );
    outgoing.on('upgrade', ({ rawHeaders }: IncomingMessage) => {
      if (upgradeNamedIn(rawHeaders) !== request.upgrade) refuse(new MalformedMessage('unasked 101'));
      // The head that http-proxy-3 writes for the client is not ours: its first bytes are thrown away.
      else
        proxy.once('open', () => {
          far.read();
          events.onSwitch(rawHeaders, far);
        });
    });
    outgoing.on('response', (incoming: IncomingMessage) => {
      response = incoming;
      near.destroy();
      if (incoming.statusCode === 101) {
        refuse(new MalformedMessage('unasked 101'));
        return;
      }
      attempt(() => events.onHead(incoming.statusCode ?? 0, incoming.rawHeaders));
      incoming.on('data', (chunk: Buffer) => events.onData(chunk));
      incoming.on('end', () => events.onEnd(incoming.rawTrailers));
      incoming.on('error', (error) => events.onError(error));
    });
  });

  function refuse(error: Error): void {
    events.onError(error);
    near.destroy();
  }

  function attempt(run: () => void): void {
    try {
      run();
    } catch (error) {
      refuse(error as Error);
    }
  }
  const client = Object.assign(near, {
    setTimeout: () => near,
    setNoDelay: () => near,
    setKeepAlive: () => near,
    destroySoon: () => near.destroy(),
  });
  near.on('error', () => {}).on('close', () => far.destroy());
  far.on('error', () => {}).on('close', () => socket.destroy());
  // It takes nothing but a GET for a WebSocket; what is sent instead stands in its options.
  const asked = {
    method: 'GET',
    url: '/',
    httpVersion: '1.1',
    httpVersionMajor: 1,
    headers: { connection: 'upgrade', upgrade: 'websocket' },
  } as unknown as IncomingMessage;
  proxy.ws(asked, client as unknown as Socket, Buffer.alloc(0), (error) => events.onError(error));
  return { pause: () => response?.pause(), resume: () => response?.resume() };
}

/** By name, as Node wants them; the names of one header in several spellings are one. */
function groupedHeaders(fields: readonly string[]): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  const spellings = new Map<string, string>();
  for (let i = 0; i < fields.length; i += 2) {
    const lower = fields[i]!.toLowerCase();
    const name = spellings.get(lower) ?? fields[i]!;
    spellings.set(lower, name);
    const before = headers[name];
    headers[name] = before === undefined ? fields[i + 1]! : [before, fields[i + 1]!].flat();
  }
  return headers;
}
