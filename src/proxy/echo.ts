import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The `builtin:echo` upstream, running. */
export interface Echo {
  /** `http://127.0.0.1:<port>`. */
  readonly origin: string;
  close(): Promise<void>;
}

/** How many bytes of a body are sent back; `body_length` counts all of them. */
const maxEchoedBytes = 1024 * 1024;

/** Larger than any limit on what clients may send. */
const maxHeadBytes = 1024 * 1024;

/** Starts the upstream of the quick start on a free loopback port: it returns the request it received, as JSON. */
export function startEcho(): Promise<Echo> {
  const server = createServer({ maxHeaderSize: maxHeadBytes }, (request, response) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      if (length < maxEchoedBytes) chunks.push(chunk);
      length += chunk.length;
    });
    request.on('end', () => {
      const { rawHeaders } = request;
      const headers: [string, string][] = [];
      for (let i = 0; i < rawHeaders.length; i += 2) headers.push([rawHeaders[i]!, rawHeaders[i + 1]!]);
      const body = Buffer.concat(chunks).subarray(0, maxEchoedBytes).toString('base64');
      const text = JSON.stringify({
        method: request.method,
        target: request.url,
        headers,
        body,
        body_length: length,
      });
      response.writeHead(200, {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(text),
      });
      response.end(text);
    });
  });
  server.keepAliveTimeout = 60_000;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      resolve({
        origin: `http://127.0.0.1:${port}`,
        close: () =>
          new Promise((done) => {
            server.close(() => done());
            server.closeAllConnections();
          }),
      });
    });
  });
}
