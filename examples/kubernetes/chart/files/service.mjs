// A service that knows nothing of authentication: it tells who is calling by the headers it is given. It listens on
// loopback alone, so that nobody but the sidecar reaches it.
import { createServer } from 'node:http';

const server = createServer((request, response) => {
  const { method, url, headers } = request;
  response.setHeader('Content-Type', 'application/json');
  response.end(
    JSON.stringify({
      method,
      url,
      username: headers['x-auth-username'],
      scopes: headers['x-auth-scopes'],
      tenant: headers['x-auth-tenant'],
    }),
  );
});

server.listen(Number(process.env.PORT), '127.0.0.1');
process.on('SIGTERM', () => {
  server.close(() => process.exit(0));
  server.closeIdleConnections();
});
