import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';

/**
 * A service of another make on 127.0.0.1, which tells who is calling and ends as fastify does. `/api/slow` takes 2.5 s.
 * With the files TLS_CERT and TLS_KEY it speaks HTTPS.
 */
const { PORT, TLS_CERT, TLS_KEY } = process.env;
const https = TLS_CERT && TLS_KEY ? { cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) } : null;
const app = fastify({ https, forceCloseConnections: 'idle' } as object) as unknown as FastifyInstance;

function tell({ url, headers }: FastifyRequest): object {
  return {
    url,
    username: headers['x-auth-username'],
    scopes: headers['x-auth-scopes'],
    tenant: headers['x-auth-tenant'],
  };
}

app.get('/health', () => ({ status: 'ok' }));
app.get('/api/slow', async (request) => {
  await sleep(2_500);
  return tell(request);
});
app.get('/*', tell);

// By itself fastify waits for whoever keeps a connection after its last response.
let ending = false;
app.addHook('onSend', async (_request, reply) => {
  if (ending) reply.header('connection', 'close');
});
process.on('SIGTERM', async () => {
  ending = true;
  await app.close();
  process.exit(0);
});
await app.listen({ port: Number(PORT), host: '127.0.0.1' });
