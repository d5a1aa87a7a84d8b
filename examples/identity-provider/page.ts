import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';

/** Style sheet of the example's pages. */
export const style = readFileSync(join(import.meta.dirname, 'style.css'), 'utf8');

/** Serves the example's front end, one page at every path but that of its style sheet, on the origin of `address`. */
export async function startPage(address: string, gateway: string): Promise<Server> {
  const html = readFileSync(join(import.meta.dirname, 'page.html'), 'utf8').replaceAll(
    '{{gateway}}',
    gateway,
  );
  const server = createServer(({ url }, response) => {
    const [type, body] = url === '/style.css' ? ['css', style] : ['html', html];
    response.writeHead(200, { 'Content-Type': `text/${type}; charset=utf-8`, 'Cache-Control': 'no-store' });
    response.end(body);
  });
  const { hostname, port } = new URL(address);
  server.listen(Number(port), hostname);
  await once(server, 'listening');
  return server;
}
