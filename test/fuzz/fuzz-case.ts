import { fuzzedPipeline } from '../support/corpora/fuzzed-requests.ts';
import { fuzzedResponse } from '../support/corpora/fuzzed-responses.ts';
import { mutated } from '../support/corpora/mutations.ts';
import { createRandom, type Random } from '../support/corpora/random.ts';

/** Bytes for parsers, and how they arrive. */
export interface FuzzCase {
  readonly kind: 'request' | 'response';
  /** Method of the request that a response is for. */
  readonly method: string;
  /** Latin1. */
  readonly text: string;
  /** Where they are cut in two for the second of our readings. */
  readonly cut: number;
  /** The connection ends after them. */
  readonly ends: boolean;
}

const heads = {
  request: 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n',
  response: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
} as const;
const good = {
  request: 'GET /next HTTP/1.1\r\nHost: a\r\n\r\n',
  response: 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
} as const;
const bodies = [
  '0\r\n\r\n',
  '3\r\nabc\r\n0\r\n\r\n',
  '1;a=b\r\nx\r\n0\r\nX: y\r\n\r\n',
  'A;a="b;c"\r\n0123456789\r\n00\r\nX:\tz \r\nY:\r\n\r\n',
  '00001\r\nx\r\n5\r\n0\r\n\r\n\r\n0;x\r\n\r\n',
  '1\r\n\n\r\n2\r\n\r\n\r\n0\r\n\r\n',
] as const;
const requestLines = [
  'GET / HTTP/1.1',
  'POST /x?y=z HTTP/1.0',
  'OPTIONS * HTTP/1.1',
  'PUT http://a/ HTTP/1.1',
  'GET / HTTP/2.0',
  'GET / HTTP/1.2',
  'GET /x',
  'PRI * HTTP/2.0',
  'SOURCE /ice ICE/1.0',
  'DESCRIBE rtsp://x RTSP/1.0',
  'CONNECT a:1 HTTP/1.1',
  'get / HTTP/1.1',
  'GET /\xe9 HTTP/1.1',
  'M-SEARCH / HTTP/1.1',
] as const;
const statusLines = [
  'HTTP/1.1 200 OK',
  'HTTP/1.0 200 OK',
  'HTTP/1.1 204',
  'HTTP/1.1 304 Not\tModified',
  'HTTP/1.1 404 ',
  'HTTP/1.1 099 x',
  'HTTP/1.1 2000 x',
  'HTTP/2.0 200 OK',
  'HTTP/1.1  200 OK',
  'HTTP/1.1 599 \xff',
  'HTTP/1.1 103 Early',
] as const;
const fieldLines = [
  'Content-Length: 0',
  'Content-Length: 3',
  'content-length: 03',
  'Transfer-Encoding: chunked',
  'transfer-encoding: Chunked',
  'Transfer-Encoding: gzip',
  'Connection: close',
  'Connection: keep-alive, x-a',
  'Connection: upgrade',
  'Upgrade: websocket',
  'X:',
  'X:\t\ty\t',
  'X: \xe9\x80',
  "!#$%&'*+-.^_`|~: odd",
] as const;

/** A head of independent lines, few enough for a change to matter. */
function fuzzedHead(random: Random, kind: FuzzCase['kind']): string {
  const lines = kind === 'request' ? [random.pick(requestLines), 'Host: a'] : [random.pick(statusLines)];
  for (let count = random.below(4); count > 0; count--) lines.push(random.pick(fieldLines));
  return `${lines.join('\r\n')}\r\n\r\n${random.pick(['', '', 'abc', '3\r\nabc\r\n0\r\n\r\n'])}`;
}

/** The case that follows from the seed and its index. */
export function fuzzCase(seed: number, index: number): FuzzCase {
  const random = createRandom(seed, index);
  const kind = random.pick(['request', 'response'] as const);
  const method = kind === 'response' && random.oneIn(6) ? 'HEAD' : 'GET';
  let text: string;
  switch (random.below(3)) {
    case 0:
      text = fuzzedHead(random, kind);
      if (!random.oneIn(5)) text = mutated(random, text);
      break;
    case 1:
      text = random.pick(bodies);
      if (!random.oneIn(5)) text = mutated(random, text);
      text = heads[kind] + text;
      break;
    default: {
      const { bytes } =
        kind === 'request' ? fuzzedPipeline(random, `c${index}`, 'key') : fuzzedResponse(random, 'mark');
      text = bytes.toString('latin1');
    }
  }
  if (random.oneIn(3)) text += good[kind];
  // Characters beyond latin1 are bytes too, cut as writing them cuts them.
  text = Buffer.from(text, 'latin1').toString('latin1');
  return { kind, method, text, cut: random.below(text.length + 1), ends: random.oneIn(2) };
}
