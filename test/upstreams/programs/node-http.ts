import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';

/** A server of `node:http` alone, whose router reads the path as `URL` does and decodes it. */
const handlers: string[] = JSON.parse(process.env.UPSTREAM_HANDLERS!);
handlers.sort((a, b) => b.length - a.length);

function pathOf(target: string): string {
  try {
    return decodeURIComponent(new URL(target, 'http://localhost').pathname);
  } catch {
    return target;
  }
}

function isServedBy(path: string, handler: string): boolean {
  const exact = handler.replace('$', '');
  return path === exact || path === `${exact}/` || (exact === handler && path.startsWith(`${exact}/`));
}

createServer((request, response) => {
  const path = pathOf(request.url!);
  const handler = handlers.find((handler) => isServedBy(path, handler)) ?? '';
  const chunks: Buffer[] = [];
  const serve = () => {
    const { rawHeaders: raw } = request;
    const entry = {
      handler: handler.replace('$', ''),
      method: request.method,
      path,
      headers: raw.flatMap((name, i) => (i % 2 === 0 ? [[name, raw[i + 1]]] : [])),
      root: '',
      user: '',
      address: request.socket.remoteAddress,
      scheme: 'http',
      body: Buffer.concat(chunks).toString('latin1', 0, 200),
    };
    appendFileSync(process.env.UPSTREAM_RECORD!, `${JSON.stringify(entry)}\n`);
    response.end('ok\n');
  };
  if (path.endsWith('/unread')) serve();
  else request.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', serve);
}).listen(Number(process.env.UPSTREAM_PORT), '127.0.0.1');
