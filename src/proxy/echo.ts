import type { IncomingMessage, ServerResponse } from 'node:http';
import { isNavigation } from '../http/navigation.ts';
import { createServer } from '../http1/message/node-http.ts';
import { listen } from '../http1/server/listen.ts';

/** The `builtin:echo` upstream, running. */
export interface Echo {
  /** `http://127.0.0.1:<port>`. */
  readonly origin: string;
  close(): Promise<void>;
}

/** Maximum number of bytes of a body that are sent back; `body_length` counts all. */
const maxEchoedBytes = 1024 * 1024;

/** Limit for the head of a request, larger than any sensible limit of the gateway. */
const maxHeadBytes = 1024 * 1024;

/** A received request, as the echo returns it. */
export interface EchoedRequest {
  readonly method: string;
  readonly target: string;
  /** Pairs of name and value, in order of arrival. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The body in base64, up to its first MiB. */
  readonly body: string;
  readonly body_length: number;
}

/** Page that shows people a request as the echo received it, and the headers to send with the page. */
export interface EchoPage {
  readonly headers: Readonly<Record<string, string>>;
  readonly render: (request: EchoedRequest) => string;
}

/** Starts the upstream of the quick start on a loopback port: it returns each request as JSON or, to browsers, as the `page`. */
export async function startEcho(page?: EchoPage): Promise<Echo> {
  const server = createServer({ maxHeaderSize: maxHeadBytes }, (request, response) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      if (length < maxEchoedBytes) chunks.push(chunk);
      length += chunk.length;
    });
    request.on('end', () => {
      const body = Buffer.concat(chunks).subarray(0, maxEchoedBytes).toString('base64');
      const echoed: EchoedRequest = {
        method: request.method!,
        target: request.url!,
        headers: pairsOf(request.rawHeaders),
        body,
        body_length: length,
      };
      if (page !== undefined && isNavigation(fetchMetadataOf(request)))
        send(response, page.render(echoed), { ...page.headers, 'Content-Type': 'text/html; charset=utf-8' });
      else send(response, JSON.stringify(echoed), { 'Content-Type': 'application/json' });
    });
  });
  server.keepAliveTimeout = 60_000;
  const { port } = await listen(server, { port: 0, host: '127.0.0.1' });
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

function pairsOf(raw: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let i = 0; i < raw.length; i += 2) pairs.push([raw[i]!, raw[i + 1]!]);
  return pairs;
}

function fetchMetadataOf({ headers }: IncomingMessage): Parameters<typeof isNavigation>[0] {
  const text = (name: string) => String(headers[name] ?? '');
  return {
    secFetchMode: text('sec-fetch-mode'),
    secFetchDest: text('sec-fetch-dest'),
    accept: text('accept'),
  };
}

function send(response: ServerResponse, text: string, headers: Readonly<Record<string, string>>): void {
  response.writeHead(200, { ...headers, 'Content-Length': Buffer.byteLength(text) });
  response.end(text);
}
