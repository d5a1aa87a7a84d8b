// The service that Postern protects: it says what it got, after `?slow=<ms>`, and finishes what it has begun at SIGTERM.
// BIND is an address with its port, or a path; TLS the folder of a certificate.
import { readFileSync, unlinkSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';

const { TLS } = process.env;
const read = (name) => readFileSync(`${TLS}/${name}`);
const tls = TLS && { cert: read('tls.crt'), key: read('tls.key') };

let isEnding = false;

async function respond(request, response) {
  let bytes = 0;
  for await (const piece of request) bytes += piece.length;
  const slow = /[?&]slow=(\d+)/.exec(request.url);
  if (slow) await sleep(Number(slow[1]));
  // Or the connection would keep it from ending.
  if (isEnding) response.setHeader('connection', 'close');
  const { headers } = request;
  const seen = {
    method: request.method,
    url: request.url,
    bytes,
    username: headers['x-auth-username'],
    tenant: headers['x-auth-tenant'],
    host: headers['x-forwarded-host'],
    cookie: headers.cookie,
    pod: process.env.HOSTNAME,
  };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(seen));
}

const server = tls ? https.createServer(tls, respond) : http.createServer(respond);
// Longer than Postern keeps a connection without a request.
server.keepAliveTimeout = 75_000;

const bind = process.env.BIND ?? '0.0.0.0:9000';
if (bind.startsWith('/')) {
  try {
    unlinkSync(bind);
  } catch {}
  server.listen(bind);
} else {
  const [host, port] = bind.split(':');
  server.listen(Number(port), host);
}
process.on('SIGTERM', () => {
  isEnding = true;
  server.close(() => process.exit(0));
  server.closeIdleConnections();
});
