// A service that knows nothing of authentication: it tells who is calling by the headers it is given.
import { createServer } from 'node:http';

const server = createServer(({ method, url, headers }, response) => {
  const username = headers['x-auth-username'];
  const scopes = headers['x-auth-scopes'];
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify({ method, url, username, scopes }));
});

server.listen(9000);
process.on('SIGTERM', () => {
  server.close(() => process.exit(0));
  server.closeIdleConnections();
});
