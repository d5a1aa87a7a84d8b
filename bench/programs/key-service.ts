import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

// The service an auth subrequest asks: 204 with the subject of a known key, else 401.

const [port, keysFile = ''] = process.argv.slice(2);
const keys = readFileSync(keysFile, 'utf8').split('\n');
const subjects = new Map(keys.map((key, index) => [key, `subject-${index}`]));

createServer((request, response) => {
  const key = request.headers['x-api-key'];
  const subject = typeof key === 'string' ? subjects.get(key) : undefined;
  if (subject === undefined) response.writeHead(401).end();
  else response.writeHead(204, { 'X-Auth-Subject': subject }).end();
}).listen(Number(port), '127.0.0.1', 1024);

process.once('SIGTERM', () => process.exit(0));
