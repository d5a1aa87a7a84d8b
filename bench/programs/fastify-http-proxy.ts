import { readFileSync } from 'node:fs';
import httpProxy from '@fastify/http-proxy';
import fastify from 'fastify';

const [port, upstreamPort, keysFile = ''] = process.argv.slice(2);
const keys = new Set(readFileSync(keysFile, 'utf8').split('\n'));

const server = fastify();
await server.register(httpProxy, {
  upstream: `http://127.0.0.1:${upstreamPort}`,
  undici: { connections: 128, pipelining: 1 },
  preHandler(request, reply, done) {
    const key = request.headers['x-api-key'];
    if (typeof key === 'string' && keys.has(key)) done();
    else reply.code(401).send();
  },
});
await server.listen({ port: Number(port), host: '127.0.0.1', backlog: 1024 });

// An orderly exit, without which the profiler writes nothing.
process.once('SIGTERM', () => process.exit(0));
