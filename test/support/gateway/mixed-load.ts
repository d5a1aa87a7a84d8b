import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, request as requestHttps } from 'node:https';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { connectTo } from '../clients/tls-client.ts';

const pieces = 5;
const pieceMs = 50;
const pieceBytes = 10_000;

/** Responds to what a {@link MixedLoad} sends, as an upstream. */
export function respondToLoad(request: IncomingMessage, response: ServerResponse): void {
  if (request.url === '/api/events') {
    const timer = setInterval(() => response.write('data: tick\n\n'), pieceMs);
    response.once('close', () => clearInterval(timer));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return;
  }
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  request.once('end', () => response.end(String(bytes)));
}

/** Switches to a protocol in which every byte comes back. */
export function echoUpgrade(_request: IncomingMessage, socket: Duplex): void {
  socket.on('error', () => {});
  socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  socket.pipe(socket);
}

/** Requests on kept and on fresh TLS connections, uploads, event streams and WebSockets, all at the same time. */
export class MixedLoad {
  /** Number of requests by kind and outcome: `kept: whole`, `fresh: ECONNRESET`. */
  readonly outcomes = new Map<string, number>();
  /** Streams and WebSockets that have ended before the load did. */
  broken = 0;
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 16, rejectUnauthorized: false });
  readonly #running: Promise<void>[] = [];
  readonly #long: TLSSocket[] = [];
  #isOver = false;

  constructor(port: number) {
    this.#port = port;
  }

  /** Begins; `each`: clients of each kind. Resolves once every stream and WebSocket is open. */
  async start(each: number): Promise<void> {
    await Promise.all(
      Array.from({ length: each }, () => Promise.all([this.#openStream(), this.#openWebSocket()])),
    );
    for (let count = 0; count < each; count++)
      this.#running.push(
        this.#loop('kept', () => this.#ask(this.#agent)),
        this.#loop('fresh', () => this.#ask(false)),
        this.#loop('upload', () => this.#upload()),
      );
  }

  /** Ends once what was begun is over. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
    this.#agent.destroy();
    for (const socket of this.#long) socket.destroy();
  }

  async #loop(kind: string, step: () => Promise<string>): Promise<void> {
    while (!this.#isOver) {
      const outcome = await step().catch((error: NodeJS.ErrnoException) =>
        String(error.code ?? error.message),
      );
      const key = `${kind}: ${outcome}`;
      this.outcomes.set(key, (this.outcomes.get(key) ?? 0) + 1);
      await sleep(5);
    }
  }

  async #ask(agent: Agent | false): Promise<string> {
    const sent = requestHttps({
      port: this.#port,
      path: '/api/small',
      agent,
      rejectUnauthorized: false,
    }).end();
    return outcomeOf(sent, '0');
  }

  async #upload(): Promise<string> {
    const sent = requestHttps({
      port: this.#port,
      path: '/api/upload',
      method: 'POST',
      agent: false,
      rejectUnauthorized: false,
    });
    const outcome = outcomeOf(sent, String(pieces * pieceBytes));
    const failed = outcome.then(
      () => {},
      () => {},
    );
    for (let piece = 0; piece < pieces && !sent.destroyed; piece++) {
      sent.write('x'.repeat(pieceBytes));
      await Promise.race([sleep(pieceMs), failed]);
    }
    sent.end();
    return outcome;
  }

  async #openStream(): Promise<void> {
    const socket = await this.#open();
    socket.write('GET /api/events HTTP/1.1\r\nHost: a\r\n\r\n');
    await received(socket, 'data: tick');
    socket.resume();
  }

  async #openWebSocket(): Promise<void> {
    const socket = await this.#open();
    socket.write(
      [
        'GET /api/ws HTTP/1.1',
        'Host: a',
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
        '',
        '',
      ].join('\r\n'),
    );
    await received(socket, '101 Switching');
    this.#running.push(this.#echo(socket));
  }

  async #echo(socket: TLSSocket): Promise<void> {
    for (let count = 0; !socket.destroyed && !this.#isOver; count++) {
      socket.write(`<${count}>`);
      await received(socket, `<${count}>`);
      await sleep(pieceMs);
    }
  }

  async #open(): Promise<TLSSocket> {
    const socket = connectTo(this.#port);
    socket.on('error', () => {});
    socket.once('close', () => {
      if (!this.#isOver) this.broken += 1;
    });
    await once(socket, 'secureConnect');
    this.#long.push(socket);
    return socket;
  }
}

/** Resolves once the text has come, or the connection is closed. */
function received(socket: TLSSocket, text: string): Promise<void> {
  return new Promise((resolve) => {
    let seen = '';
    const done = () => {
      socket.off('data', look);
      socket.off('close', done);
      resolve();
    };
    const look = (chunk: Buffer) => {
      seen += chunk;
      if (seen.includes(text)) done();
    };
    socket.on('data', look);
    socket.once('close', done);
  });
}

async function outcomeOf(sent: ReturnType<typeof requestHttps>, whole: string): Promise<string> {
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return response.statusCode === 200 && text === whole ? 'whole' : `${response.statusCode} ${text}`;
}
