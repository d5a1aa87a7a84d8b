import { mutated } from './mutations.ts';
import type { Random } from './random.ts';

/** An upstream's response to one request, and what happens to its connection. */
export interface FuzzedResponse {
  readonly bytes: Buffer;
  /** Where the bytes are cut in two. */
  readonly cut: number;
  readonly after: 'end' | 'reset' | 'keep';
}

/** An unsolicited response, where another may be expected. */
const planted = 'HTTP/1.1 200 OK\r\nX-Mark: planted\r\nContent-Length: 7\r\n\r\nplanted';

const statuses = [
  ...[
    '200 OK',
    '200 OK',
    '200 OK',
    '200',
    '200 ',
    '201 Created',
    '204 No Content',
    '205 Reset Content',
    '206 Partial',
  ],
  ...['301 Moved', '304 Not Modified', '404 Not Found', '500 Error', '299 \xe9', '101 Switching Protocols'],
  ...['100 Continue', '103 Early Hints', '199 Odd', '600 Odd', '999 Odd'],
] as const;

const interim = [
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nX-Mark: planted\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nContent-Length: 7\r\n\r\n',
  'HTTP/1.1 102 Processing\r\nTransfer-Encoding: chunked\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nSet-Cookie: service_refresh_cookie=planted\r\n\r\n',
] as const;

const lines = [
  ...[
    'Content-Type: text/plain',
    'Vary: Accept',
    'X-Empty:',
    'Set-Cookie: a=b',
    'ETag: "x"',
    'Cache-Control: max-age=1',
  ],
  ...['Set-Cookie: service_refresh_cookie=planted; Path=/', 'Set-Cookie: =service_refresh_cookie=planted'],
  ...[
    'X-Request-Id: planted',
    'Connection: keep-alive',
    'Connection: close',
    'Connection: x-empty',
    'Connection: content-length',
  ],
  ...[
    'Connection: upgrade',
    'Upgrade: websocket',
    'Keep-Alive: timeout=0',
    'Trailer: X-T',
    'Content_Length: 3',
  ],
  ...[
    'Transfer-Encoding: identity',
    'Content-Length: 3',
    'Transfer-Encoding: chunked',
    'Access-Control-Allow-Origin: *',
  ],
] as const;

const bodies = ['', 'a', 'hello', planted, `0\r\n\r\n${planted}`] as const;
const extensions = ['', '', ';a', ';a=b', ';a="b;c"'] as const;
const trailers = [
  ...['', '', '', 'X-T: v\r\n', 'X-Mark: planted\r\n', 'Content-Length: 9\r\n'],
  'Set-Cookie: service_refresh_cookie=planted\r\n',
] as const;

/** The response that follows from the random numbers, mostly marked with `mark`. */
export function fuzzedResponse(random: Random, mark: string): FuzzedResponse {
  const head = [`X-Mark: ${mark}`];
  const add = (line: string) => head.splice(random.below(head.length + 1), 0, line);
  let body: string = random.pick(bodies);
  const framing = random.below(5);
  if (framing === 0) {
    body = `${chunksOf(random, body)}0${random.pick(extensions)}\r\n${random.pick(trailers)}\r\n`;
    add('Transfer-Encoding: chunked');
  } else if (framing === 1) add('Connection: close');
  else add(`Content-Length: ${Math.max(0, body.length + random.pick([0, 0, 0, 0, 1, -1, 7]))}`);
  for (let count = random.below(3); count > 0; count--) add(random.pick(lines));
  const before = random.oneIn(6) ? random.pick(interim) : '';
  const more = random.oneIn(8) ? planted : '';
  const version = random.oneIn(6) ? '1.0' : '1.1';
  let text = `${before}HTTP/${version} ${[random.pick(statuses), ...head].join('\r\n')}\r\n\r\n${body}${more}`;
  if (!random.oneIn(4)) text = mutated(random, text);
  if (random.oneIn(12)) text = text.slice(0, random.below(text.length + 1));
  const bytes = Buffer.from(text, 'latin1');
  return { bytes, cut: random.below(bytes.length + 1), after: random.pick(['end', 'reset', 'keep', 'keep']) };
}

function chunksOf(random: Random, body: string): string {
  const at = random.below(body.length + 1);
  return [body.slice(0, at), body.slice(at)]
    .filter((part) => part !== '')
    .map((part) => `${part.length.toString(16)}${random.pick(extensions)}\r\n${part}\r\n`)
    .join('');
}
