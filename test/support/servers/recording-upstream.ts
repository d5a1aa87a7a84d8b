import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { createCredentialWatch } from '../gateway/credential-watch.ts';
import type { SecretWatch } from '../gateway/secret-watch.ts';

/** A request as the upstream saw it. */
export interface SeenRequest {
  readonly method: string;
  readonly target: string;
  /** Names and values in turn, as received. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** All values of a header, by its name in lower case. */
  values(name: string): string[];
}

/** An upstream whose record is the assertion. */
export interface RecordingUpstream {
  readonly url: string;
  readonly seen: SeenRequest[];
  /** Targets of requests whose head has come. */
  readonly begun: string[];
  /** Replaces its response, by default 200 `{"ok":true}`. */
  response: (request: IncomingMessage, response: ServerResponse, body: Buffer) => void;
  /** Throws if a request, recorded or begun, held a credential of Postern's. */
  close(): Promise<void>;
}

/**
 * Starts the upstream on a free loopback port; `secrets` are further secrets that no application may see. It `acceptsWebSockets`,
 * and sends each message back, or answers an upgrade as any request.
 */
export async function startRecordingUpstream(
  secrets?: Pick<SecretWatch, 'heldIn'>,
  { acceptsWebSockets = false }: { readonly acceptsWebSockets?: boolean } = {},
): Promise<RecordingUpstream> {
  const watch = createCredentialWatch(secrets);
  const seen: SeenRequest[] = [];
  const begun: string[] = [];
  const record = ({ method, url, rawHeaders }: IncomingMessage, body: Buffer) => {
    const values = (name: string) =>
      rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]!.toLowerCase() === name);
    seen.push({ method: method!, target: url!, rawHeaders, body, values });
  };
  const server = createServer({ maxHeaderSize: 64 * 1024 }, (request, response) => {
    const chunks: Buffer[] = [];
    begun.push(request.url!);
    watch.search(request.url!, request.rawHeaders);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      record(request, body);
      upstream.response(request, response, body);
    });
  });
  const sockets = new WebSocketServer({ noServer: true });
  if (acceptsWebSockets)
    server.on('upgrade', (request, socket, head) => {
      watch.search(request.url!, request.rawHeaders);
      record(request, head);
      sockets.handleUpgrade(request, socket, head, (accepted) => {
        accepted.on('error', () => {});
        accepted.on('message', (data, binary) => accepted.send(data, { binary }));
      });
    });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const upstream: RecordingUpstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    begun,
    response: (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"ok":true}');
    },
    async close() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        for (const socket of sockets.clients) socket.terminate();
      });
      watch.assertNone();
    },
  };
  return upstream;
}
