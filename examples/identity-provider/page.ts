import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';

/** Serves the example's front end, one page at every path, on the origin of `address`. */
export async function startPage(address: string, gateway: string): Promise<Server> {
  const html = readFileSync(join(import.meta.dirname, 'page.html'), 'utf8').replace('{{gateway}}', gateway);
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' });
    response.end(html);
  });
  const { hostname, port } = new URL(address);
  server.listen(Number(port), hostname);
  await once(server, 'listening');
  return server;
}
