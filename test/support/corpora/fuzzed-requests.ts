import { mutated } from './mutations.ts';
import type { Random } from './random.ts';

/** A client's bytes: some requests, most of them changed, and one that is good and the last. */
export interface FuzzedPipeline {
  readonly bytes: Buffer;
  /** Where the bytes are cut in two. */
  readonly cut: number;
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY', 'PROPFIND'] as const;
const targets = ['', '', '/x', '/a:b', '/a%20b', '/%C3%A9', '?a=b', '?q=/../', '/x?%0d%0a', '/'] as const;
const hosts = ['a', 'a:80', 'gateway.example', '[::1]:8080', 'a.example.'] as const;

const lines = [
  ...[
    'Accept: */*',
    'X-A: b',
    'X-Empty:',
    'X-Blanks: \t b \t',
    'Cookie: a=b; service_refresh_cookie=evil; c=d',
  ],
  ...['Connection: keep-alive', 'Connection: x-a', 'Connection: close, x-a', 'Upgrade: websocket'],
  ...[
    'TE: trailers',
    'Trailer: X-T',
    'Expect: 100-continue',
    'Keep-Alive: timeout=5',
    'Proxy-Connection: keep-alive',
  ],
  ...[
    'X-Auth-Subject: evil',
    'X_Auth_Scopes: evil',
    'x-auth-USERNAME: evil',
    'X-Forwarded-For: 9.9.9.9',
    'Forwarded: for=evil',
  ],
  ...[
    'X-Request-Id: mine-1',
    'traceparent: 00-000000000000000000000000000000a1-00000000000000b2-01',
    'Remote-User: evil',
  ],
  ...['Script-Name: /evil', 'SCRIPT_NAME: /evil', 'X-Original-URL: /evil', 'X-HTTP-Method-Override: DELETE'],
  ...[
    'Content_Length: 5',
    'Transfer_Encoding: chunked',
    'Content-Type: text/plain',
    'Range: bytes=0-',
    'Origin: https://a.example',
  ],
  ...['Access-Control-Request-Method: PUT', 'Sec-WebSocket-Protocol: chat', 'HTTP2-Settings: AAMAAABkAAQ'],
] as const;

/** A request inside the body of another. */
const smuggled = 'GET /api/open/smuggled HTTP/1.1\r\nHost: a\r\nX-Auth-Subject: evil\r\n\r\n';
const bodies = ['', 'a', 'hello', '0\r\n\r\n', smuggled, `0\r\n\r\n${smuggled}`] as const;
const extensions = ['', '', '', ';a', ';a=b', ';a="b;c"', ';a=b;c="\\""'] as const;
const trailers = [
  '',
  '',
  '',
  'X-T: v\r\n',
  'X-Auth-Subject: evil\r\n',
  'Content-Length: 5\r\n',
  'Host: b\r\n',
] as const;

function chunked(random: Random, body: string): string {
  const at = random.below(body.length + 1);
  const parts = [body.slice(0, at), body.slice(at)].filter((part) => part !== '');
  const chunks = parts.map((part) => `${part.length.toString(16)}${random.pick(extensions)}\r\n${part}\r\n`);
  return `${chunks.join('')}0${random.pick(extensions)}\r\n${random.pick(trailers)}\r\n`;
}

/** A request that is good, or nearly; `key`: some are signed with it. */
function request(random: Random, name: string, key: string): string {
  const head = [`Host: ${random.pick(hosts)}`];
  const add = (line: string) => head.splice(random.below(head.length + 1), 0, line);
  const signs = random.oneIn(3);
  if (signs) add(`X-API-Key: ${key}`);
  for (let count = random.below(4); count > 0; count--) add(random.pick(lines));
  let body = '';
  const framing = random.below(3);
  if (framing > 0) body = random.pick(bodies);
  if (framing === 1) add(`Content-Length: ${body.length}`);
  if (framing === 2) {
    body = chunked(random, body);
    add('Transfer-Encoding: chunked');
  }
  const route = signs ? '/api/store' : '/api/open';
  const version = random.oneIn(8) ? '1.0' : '1.1';
  const line = `${random.pick(methods)} ${route}/${name}${random.pick(targets)} HTTP/${version}`;
  return [line, ...head, '', body].join('\r\n');
}

/** The pipeline that follows from the random numbers; `name` makes its targets its own. */
export function fuzzedPipeline(random: Random, name: string, key: string): FuzzedPipeline {
  let text = '';
  for (let count = 1 + random.below(3); count > 0; count--) text += request(random, `${name}-${count}`, key);
  if (!random.oneIn(6)) text = mutated(random, text);
  // It ends the connection wherever the ones before it left the framing as it was.
  text += `GET /api/open/${name}-last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
  const bytes = Buffer.from(text, 'latin1');
  return { bytes, cut: random.below(bytes.length + 1) };
}
