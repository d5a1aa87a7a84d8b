import { readFileSync } from 'node:fs';
import httpProxy from '@fastify/http-proxy';
import fastify from 'fastify';

const [port, upstreamPort, keysFile = ''] = process.argv.slice(2);
const lines = readFileSync(keysFile, 'utf8').trimEnd().split('\n');
const subjects = new Map(lines.map((line) => line.split(' ') as [string, string]));

// An idle connection is kept as long as nginx keeps one.
const server = fastify({ keepAliveTimeout: 75_000 });
await server.register(httpProxy, {
  upstream: `http://127.0.0.1:${upstreamPort}`,
  undici: { connections: 128, pipelining: 1 },
  preHandler(request, reply, done) {
    const key = request.headers['x-api-key'];
    if (typeof key === 'string' && subjects.has(key)) done();
    else reply.code(401).send();
  },
  replyOptions: {
    rewriteRequestHeaders(_request, headers) {
      const { 'x-api-key': key, ...others } = headers;
      return { ...others, 'x-auth-subject': subjects.get(String(key)) };
    },
  },
});
await server.listen({ port: Number(port), host: '127.0.0.1', backlog: 1024 });

// An orderly exit, without which the profiler writes nothing.
process.once('SIGTERM', () => process.exit(0));
