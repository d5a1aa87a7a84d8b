import { appendFileSync } from 'node:fs';
import { type FastifyReply, type FastifyRequest, fastify } from 'fastify';

/** Fastify with every option on that makes its router read more paths as one. */
const app = fastify({
  useSemicolonDelimiter: true,
  routerOptions: {
    caseSensitive: false,
    ignoreTrailingSlash: true,
    ignoreDuplicateSlashes: true,
    maxParamLength: 10_000,
  },
});
app.removeAllContentTypeParsers();
app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));

for (const handler of JSON.parse(process.env.UPSTREAM_HANDLERS!) as string[]) {
  const path = handler.replace('$', '');
  // A colon begins a parameter there; two are one colon.
  const url = path.replaceAll(':', '::');
  const serve = (request: FastifyRequest, reply: FastifyReply) => {
    const { rawHeaders: raw } = request.raw;
    const entry = {
      handler: path,
      method: request.method,
      path: request.url,
      headers: raw.flatMap((name, i) => (i % 2 === 0 ? [[name, raw[i + 1]]] : [])),
      root: '',
      user: '',
      address: request.ip,
      scheme: request.protocol,
      body: `${request.body ?? ''}`.slice(0, 200),
    };
    appendFileSync(process.env.UPSTREAM_RECORD!, `${JSON.stringify(entry)}\n`);
    void reply.send('ok\n');
  };
  app.all(url, serve);
  if (path === handler) app.all(`${url}/*`, serve);
}
app.all('/ready', (request, reply) => {
  appendFileSync(process.env.UPSTREAM_RECORD!, `${JSON.stringify({ handler: '', path: request.url })}\n`);
  void reply.send('ok\n');
});

await app.listen({ host: '127.0.0.1', port: Number(process.env.UPSTREAM_PORT) });
