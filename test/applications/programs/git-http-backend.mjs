// Serves the bare repositories of a folder with git's own CGI program: `git-http-backend.mjs PORT FOLDER`.
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';

const [port, folder] = process.argv.slice(2);

createServer((request, response) => {
  const [path, query = ''] = request.url.split('?', 2);
  const child = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      REMOTE_USER: request.headers['x-auth-username'] ?? '',
      REQUEST_METHOD: request.method,
      PATH_INFO: decodeURIComponent(path),
      QUERY_STRING: query,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: request.headers['git-protocol'] ?? '',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  request.pipe(child.stdin).on('error', () => {});
  const chunks = [];
  child.stdout.on('data', (chunk) => chunks.push(chunk));
  child.on('close', () => {
    const output = Buffer.concat(chunks);
    const end = output.indexOf('\r\n\r\n');
    const fields = output.subarray(0, end).toString('latin1').split('\r\n');
    const headers = fields.map((line) => line.split(': ', 2));
    const status = Number(headers.find(([name]) => name === 'Status')?.[1].slice(0, 3) ?? 200);
    response.writeHead(status, headers.filter(([name]) => name !== 'Status').flat());
    response.end(output.subarray(end + 4));
  });
}).listen(Number(port), '127.0.0.1');
