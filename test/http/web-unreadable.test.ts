import t from 'tap';
import { connectRaw } from '../support/clients/raw-client.ts';
import { expected } from '../support/corpora/engine-differences.ts';
import { startWebGateway } from '../support/pages/web.ts';

const navigation = ['Sec-Fetch-Site: none', 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document'];
const olderBrowser = ['Accept: text/html,*/*;q=0.8'];
const cookies = `Cookie: a=${'x'.repeat(6_000)}`;
const long = 'x'.repeat(3_000);

const limits = { header_bytes: '4KiB', target_bytes: '2KiB', header_timeout: '300ms' };

interface Row {
  /** The request line, up to its version. */
  readonly line: string;
  readonly fields?: readonly string[];
  /** The head never comes to its end. */
  readonly isCut?: boolean;
  readonly status: number;
  /** What its reader gets. */
  readonly as: 'page' | 'JSON';
  /** Whether the response has the headers of the area; default: where it is a page. */
  readonly isGuarded?: boolean;
}

const rows: Readonly<Record<string, Row>> = {
  'a malformed path below a browser route': {
    line: 'GET /app/%2e%2e/x',
    fields: navigation,
    status: 400,
    as: 'page',
  },
  'two slashes below a browser route': { line: 'GET /app//x', fields: olderBrowser, status: 400, as: 'page' },
  'the same, by a program': { line: 'GET /app//x', status: 400, as: 'JSON' },
  'the same, below another route': { line: 'GET /api//x', fields: navigation, status: 400, as: 'JSON' },
  'the same, below an own path': { line: 'GET /api/login//x', fields: navigation, status: 400, as: 'JSON' },
  'the same, below the pages': { line: 'GET /postern//x', fields: navigation, status: 400, as: 'page' },
  'the same below the pages, by a program': {
    line: 'GET /postern//x',
    status: 400,
    as: 'JSON',
    isGuarded: true,
  },
  'a long address of a browser route': {
    line: `GET /app/x?${long}`,
    fields: navigation,
    status: 414,
    as: 'page',
  },
  'a form for a long address': { line: `POST /app/x?${long}`, fields: navigation, status: 414, as: 'page' },
  'a long address of another route': {
    line: `GET /api/x?${long}`,
    fields: navigation,
    status: 414,
    as: 'JSON',
  },
  'a long address of the pages': {
    line: `GET /postern/sign-in?${long}`,
    status: 414,
    as: 'JSON',
    isGuarded: true,
  },
  'an expectation that nobody meets': {
    line: 'GET /app/x',
    fields: [...navigation, 'Expect: miracles'],
    status: 417,
    as: 'page',
  },
  'a second host on a browser route': {
    line: 'GET /app/x',
    fields: [...navigation, 'Host: other.example'],
    status: 400,
    as: 'page',
  },
  'a malformed header on a browser route': {
    line: 'GET /app/x',
    fields: [...navigation, 'no header'],
    status: 400,
    as: 'page',
  },
  'a malformed header on another route': {
    line: 'GET /api/x',
    fields: [...navigation, 'no header'],
    status: 400,
    as: 'JSON',
  },
  'a malformed header on the pages, by a program': {
    line: 'GET /postern/',
    fields: ['no header'],
    status: 400,
    as: 'JSON',
    isGuarded: true,
  },
  'too many cookies on a browser route': {
    line: 'GET /app/x',
    fields: [...navigation, cookies],
    status: 431,
    as: 'page',
  },
  'too many cookies on the pages, by a program': {
    line: 'GET /postern/',
    fields: [cookies],
    status: 431,
    as: 'JSON',
    isGuarded: true,
  },
  'too many cookies before it is known who reads': {
    line: 'GET /app/x',
    fields: [cookies],
    isCut: true,
    status: 431,
    as: 'JSON',
  },
  'a head without an end on a browser route': {
    line: 'GET /app/x',
    fields: navigation,
    isCut: true,
    status: 408,
    as: 'page',
  },
  'a head without an end on the pages, by a program': {
    line: 'GET /postern/',
    isCut: true,
    status: 408,
    as: 'JSON',
    isGuarded: true,
  },
  'a head without an end on another route': {
    line: 'GET /api/x',
    fields: navigation,
    isCut: true,
    status: 408,
    as: 'JSON',
  },
  'another version on the pages': {
    line: 'GET /postern/x HTTP/2.0\r\nX:',
    fields: navigation,
    status: 505,
    as: 'page',
  },
};

t.test('refusals of what is no good request', async (t) => {
  const { port } = await startWebGateway(t, { limits });
  for (const [name, { line, fields = [], isCut = false, ...row }] of Object.entries(rows))
    await t.test(name, async (t) => {
      const { status, as, isGuarded } = expected(name, { isGuarded: row.as === 'page', ...row });
      const client = await connectRaw(port);
      const lines = [`${line} HTTP/1.1`, 'Host: acme.example.com', ...fields, ''];
      client.write(lines.join('\r\n') + (isCut ? '' : '\r\n'));
      const response = await client.response();
      t.equal(response.status, status);
      const [id = ''] = response.values('x-request-id');
      t.match(response.values('content-type'), [as === 'page' ? /^text\/html/ : /^application\/json/]);
      if (as === 'page') {
        t.match(response.text, `<code id="request-id">${id}</code>`);
        t.match(response.text, '>For your administrator<');
      } else t.match(response.json, { request_id: id });
      t.ok(response.isWhole);
      t.same(response.values('cache-control'), ['no-store']);
      t.same(response.values('referrer-policy'), isGuarded ? ['same-origin'] : []);
      t.equal(response.values('content-security-policy').length, isGuarded ? 1 : 0);
      client.end();
    });
});

t.test('a page says what to do about it', async (t) => {
  const { open } = await startWebGateway(t);
  const long = await open(`/app?${'x'.repeat(9_000)}`);
  t.match(long, { status: 414, text: /This address is too long/ });
  t.match(long.text, 'href="/postern/"');
  t.match(await open('/app//x'), { status: 400, text: /could not be understood/ });
});

t.test('a refusal after a good request on the same connection is told as itself', async (t) => {
  const { port } = await startWebGateway(t);
  const client = await connectRaw(port);
  const good = 'GET /postern/sign-in HTTP/1.1\r\nHost: acme.example.com\r\n\r\n';
  client.write(`${good}GET /api/x HTTP/1.1\r\nHost: acme.example.com\r\nno header\r\n\r\n`);
  t.equal((await client.response()).status, 200);
  const bad = await client.response();
  t.equal(bad.status, 400);
  t.match(bad.json, { code: 'bad_request' });
  t.same(bad.values('content-security-policy'), []);
  client.end();
});

t.test('without pages nobody gets one', async (t) => {
  const { port } = await startWebGateway(t, {
    web: undefined,
    routes: [{ prefix: '/app', upstream: 'app' }],
    limits,
  });
  const client = await connectRaw(port);
  client.write(['GET /app/x HTTP/1.1', ...navigation, 'no header', '', ''].join('\r\n'));
  t.match((await client.response()).json, { code: 'bad_request' });
  client.end();
});
