import { setTimeout as sleep } from 'node:timers/promises';
import { connectRaw, type RawResponse } from '../support/clients/raw-client.ts';
import { eventually } from '../support/eventually.ts';
import type { RealServer, SeenByHandler } from './real-server.ts';

/** A question to a server alone, without the gateway, and what its response and its handler's record say. */
export interface Reading {
  /** What the document calls it. */
  readonly what: string;
  /** The bytes, in latin1. */
  readonly send: string;
  /** A word for the document. */
  readonly judge: (seen: readonly SeenByHandler[], responses: readonly RawResponse[]) => string;
}

const good = 'Host: upstream.example\r\nConnection: close\r\n';
const strict = '/api/open/strict';
const evil = 'evil@client';

/** `yes` when the strict handler was reached, `no` when another was, else the status. */
function reached(seen: readonly SeenByHandler[], responses: readonly RawResponse[]): string {
  if (seen.some(({ handler }) => handler === strict || handler === '/api/open/items:purge')) return 'yes';
  const status = responses[0]?.status;
  return status === undefined || status < 300 ? 'no' : `${status}`;
}

const path = (what: string, target: string): Reading => ({
  what,
  send: `GET ${target} HTTP/1.1\r\n${good}\r\n`,
  judge: reached,
});

/** Spellings of `/api/open/strict`: whether its handler is reached. */
export const pathReadings: readonly Reading[] = [
  path('`%2f` for `/`', '/api/open%2fstrict'),
  path('`%5c` for `/`', '/api/open%5cstrict'),
  path('`\\` for `/`', '/api/open\\strict'),
  path('`//` for `/`', '/api/open//strict'),
  path('`/x/../` for `/`', '/api/open/x/../strict'),
  path('`/x/%2e%2e/` for `/`', '/api/open/x/%2e%2e/strict'),
  path('`/x/..%2f` for `/`', '/api/open/x/..%2fstrict'),
  path('`%73` for `s`', '/api/open/%73trict'),
  path('`%2573` for `s`', '/api/open/%2573trict'),
  path('`%3a` for `:`', '/api/open/items%3apurge'),
  path('`S` for `s`', '/api/open/Strict'),
  path('`;x` at the end', '/api/open/strict;x'),
  path('`;x` in a segment before', '/api/open;x/strict'),
  path('`%3bx` at the end', '/api/open/strict%3bx'),
  path('`%00` at the end', '/api/open/strict%00'),
  path('`%20` at the end', '/api/open/strict%20'),
  path('`%0a` at the end', '/api/open/strict%0a'),
  path('`%2fx` at the end', '/api/open/strict%2fx'),
  path('`#x` at the end', '/api/open/strict#x'),
  path('`%23x` at the end', '/api/open/strict%23x'),
  path('`%3fx` at the end', '/api/open/strict%3fx'),
  path('`%2523x` at the end', '/api/open/strict%2523x'),
  path('`%253fx` at the end', '/api/open/strict%253fx'),
  path('`%253bx` at the end', '/api/open/strict%253bx'),
  path('`%252f` for `/`', '/api/open%252fstrict'),
  path('`%255c` for `/`', '/api/open%255cstrict'),
  path('`http://other.example` before it', `http://other.example${strict}`),
];

const header = (
  what: string,
  lines: string,
  judge: (seen: SeenByHandler) => boolean | string,
  line = 'GET /api/open/x',
): Reading => ({
  what,
  send: `${line} HTTP/1.1\r\n${good}${lines}\r\n\r\n`,
  judge: ([entry], responses) => {
    if (entry === undefined) return `${responses[0]?.status ?? 'closed'}`;
    const word = judge(entry);
    return typeof word === 'string' ? word : word ? 'yes' : 'no';
  },
});

const mounted = (what: string, name: string): Reading =>
  header(what, `${name}: /api/open`, ({ handler }) => handler === strict, `GET /api/open${strict}`);

const values = (entry: SeenByHandler, name: string) =>
  entry.headers.filter(([found]) => found.toLowerCase() === name).map(([, value]) => value);

const takenFor = (name: string, sent: string): Reading =>
  header(`\`${sent}\` for \`${name}\``, `${sent}: ${evil}`, (entry) =>
    values(entry, name.toLowerCase()).includes(evil),
  );

const overridden = (name: string): Reading =>
  header(
    `\`${name}: DELETE\` on POST`,
    `${name}: DELETE\r\nContent-Length: 0`,
    ({ method }) => method === 'DELETE',
    'POST /api/open/x',
  );

/** Headers that move the path, say who is calling, or from where: whether the server or its framework heeds them. */
export const headerReadings: readonly Reading[] = [
  mounted('`SCRIPT_NAME` cuts the path', 'SCRIPT_NAME'),
  mounted('`Script-Name` cuts the path', 'Script-Name'),
  mounted('`Daphne-Root-Path` cuts the path', 'Daphne-Root-Path'),
  mounted('`X-Script-Name` cuts the path', 'X-Script-Name'),
  mounted('`X-Forwarded-Prefix` cuts the path', 'X-Forwarded-Prefix'),
  ...['PATH_INFO', 'X-Original-URL', 'X-Rewrite-URL'].map((name) =>
    header(`\`${name}\` is the path`, `${name}: ${strict}`, ({ handler }) => handler === strict),
  ),
  takenFor('X-Auth-Subject', 'X_Auth_Subject'),
  takenFor('X-Auth-Subject', 'X.Auth.Subject'),
  takenFor('X-Auth-Subject', 'X-Auth_Subject'),
  header('two `X-Auth-Subject`', `X-Auth-Subject: a\r\nX-Auth-Subject: b`, (entry) => {
    const found = values(entry, 'x-auth-subject');
    return found.length === 2 ? 'both' : found[0] === 'a' ? 'first' : found[0] === 'b' ? 'last' : 'joined';
  }),
  // Programs that are given their headers as variables record them in capitals.
  header('`Proxy` becomes `HTTP_PROXY`', `Proxy: ${evil}`, (entry) =>
    entry.headers.some(([name, value]) => name === 'PROXY' && value === evil),
  ),
  header('`REMOTE_USER` is the user', `REMOTE_USER: ${evil}`, ({ user }) => user === evil),
  header('`X-Forwarded-For` is the address', 'X-Forwarded-For: 203.0.113.7', ({ address }) =>
    address.startsWith('203.0.113.7'),
  ),
  header('`X-Forwarded-Proto` is the scheme', 'X-Forwarded-Proto: https', ({ scheme }) => scheme === 'https'),
  overridden('X-HTTP-Method-Override'),
  overridden('X-HTTP-Method'),
  header(
    '`_method=DELETE` in the query on POST',
    'Content-Length: 0',
    ({ method }) => method === 'DELETE',
    'POST /api/open/x?_method=DELETE',
  ),
];

const second = `GET ${strict} HTTP/1.1\r\n${good}\r\n`;

/** `refused`, or which of the two requests in it the server served; `two`: also the one in what may be a body. */
function served(seen: readonly SeenByHandler[], responses: readonly RawResponse[]): string {
  if (seen.some(({ handler }) => handler === strict)) return 'two';
  const status = responses[0]?.status;
  if (seen.length > 0 && (status === undefined || status < 300)) return 'one';
  return status === undefined || status < 400 ? 'closed' : `${status}`;
}

const framing = (what: string, lines: string, body: string): Reading => ({
  what,
  send: `POST /api/open/x HTTP/1.1\r\nHost: upstream.example\r\n${lines}\r\n\r\n${body}`,
  judge: served,
});

/** Messages that can be cut in two ways; each ends in a strict request that one way serves. */
export const framingReadings: readonly Reading[] = [
  framing(
    '`Content-Length` and `Transfer-Encoding`',
    `Content-Length: ${5 + second.length}\r\nTransfer-Encoding: chunked`,
    `0\r\n\r\n${second}`,
  ),
  framing(
    'two `Content-Length`',
    `Content-Length: 0\r\nContent-Length: ${second.length}\r\nConnection: close`,
    second,
  ),
  framing('`Content-Length: +0`', 'Content-Length: +0', second),
  framing('`Content-Length: 0, 0`', 'Content-Length: 0, 0', second),
  framing('`Content-Length: 0` and a space before its colon', 'Content-Length : 0', second),
  framing('`Transfer-Encoding: xchunked`', 'Transfer-Encoding: xchunked', `0\r\n\r\n${second}`),
  framing('`Transfer-Encoding: ,chunked`', 'Transfer-Encoding: ,chunked', `0\r\n\r\n${second}`),
  framing(
    '`Transfer-Encoding: chunked, identity`',
    'Transfer-Encoding: chunked, identity',
    `0\r\n\r\n${second}`,
  ),
  framing('`Transfer-Encoding` folded', 'Transfer-Encoding:\r\n chunked', `0\r\n\r\n${second}`),
  framing('a chunk size of `0x0`', 'Transfer-Encoding: chunked', `0x0\r\n\r\n${second}`),
  framing('a chunk extension `;` and a bare LF', 'Transfer-Encoding: chunked', `0;\n\r\n${second}`),
  framing('a chunk extension without a name', 'Transfer-Encoding: chunked', `0;\r\n\r\n${second}`),
  {
    what: 'lines that end in LF alone',
    send: `GET /api/open/x HTTP/1.1\nHost: upstream.example\nContent-Length: 0\n\n${second}`,
    judge: served,
  },
  {
    what: 'no `Host`',
    send: `GET /api/open/x HTTP/1.1\r\nX: y\r\n\r\n${second}`,
    judge: served,
  },
  {
    what: 'two `Host`',
    send: `GET /api/open/x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n${second}`,
    judge: served,
  },
];

/** A connection that is still open after this is abandoned. */
const waitLimitMs = 2_000;

async function exchange(port: number, bytes: string): Promise<RawResponse[]> {
  const connection = await connectRaw(port);
  const late = setTimeout(() => connection.reset(), waitLimitMs);
  connection.write(bytes);
  await connection.closed;
  clearTimeout(late);
  const responses: RawResponse[] = [];
  for (;;) {
    const response = await connection.response().catch(() => undefined);
    if (response === undefined) return responses;
    responses.push(response);
  }
}

/** What was recorded since, once a request sent now is among it: a server may write its log after its response. */
async function recordSince(server: RealServer, from: number): Promise<SeenByHandler[]> {
  const marker = `/api/open/marker-${from}`;
  await exchange(server.port, `GET ${marker} HTTP/1.1\r\n${good}\r\n`);
  await eventually(`the record of ${marker}`, () => server.seen().some((entry) => entry.path === marker));
  await sleep(20);
  return server
    .seen()
    .slice(from)
    .filter((entry) => entry.path !== marker);
}

/** Asks a server alone; a word for each reading. */
export async function readAll(server: RealServer, readings: readonly Reading[]): Promise<string[]> {
  const words: string[] = [];
  for (const { send, judge } of readings) {
    const from = server.seen().length;
    const responses = await exchange(server.port, send);
    words.push(judge(await recordSince(server, from), responses));
  }
  return words;
}
