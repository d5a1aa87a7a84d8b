import { Agent, createServer } from 'node:http';
import { createProxyServer } from 'http-proxy-3';

const [port, upstreamPort] = process.argv.slice(2).map(Number);

const proxy = createProxyServer({
  target: `http://127.0.0.1:${upstreamPort}`,
  agent: new Agent({ keepAlive: true, maxSockets: 128 }),
});
proxy.on('error', (_error, _request, response) => {
  if ('writeHead' in response) response.writeHead(502).end();
});

const server = createServer((request, response) => proxy.web(request, response));
// An idle connection is kept as long as nginx keeps one.
server.keepAliveTimeout = 75_000;
server.listen(port, '127.0.0.1', 1024);

// An orderly exit, without which the profiler writes nothing.
process.once('SIGTERM', () => process.exit(0));
