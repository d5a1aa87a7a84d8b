import type { LookupFunction } from 'node:net';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { maxProviderConnections } from '../../src/identity-providers/max-provider-connections.ts';
import { createProviderNetwork } from '../../src/identity-providers/provider-network.ts';
import { judgeElapsed } from '../support/elapsed.ts';
import { eventually } from '../support/eventually.ts';
import { json, type StubResponse, startStubProvider } from '../support/servers/stub-provider.ts';

async function setUp(t: Test, response: StubResponse) {
  const provider = await startStubProvider(t);
  const network = createProviderNetwork({ documentTimeoutMs: 250, fetchTimeoutMs: 250 });
  t.teardown(() => network.close());
  provider.responses.set('/doc', response);
  return { provider, network, url: `${provider.origin}/doc` };
}

const body = (bytes: string | Buffer, headers: Record<string, string> = {}): StubResponse => {
  return (_request, response) => void response.writeHead(200, headers).end(bytes);
};
const limit = 1024 * 1024;
const filled = (length: number) => `{"a":"${'x'.repeat(length - 8)}"}`;

t.test('a JSON object is read whatever its content type', async (t) => {
  for (const type of ['application/json', 'application/jwk-set+json; charset=utf-8', 'text/plain']) {
    const { network, url } = await setUp(t, body('{"a":1}', { 'content-type': type }));
    t.strictSame(await network.getObject(url), { a: 1 });
  }
  const { network, url } = await setUp(t, body(filled(limit)));
  t.ok(await network.getObject(url), 'just as much as the limit');
});

const refused: Record<string, StubResponse> = {
  'a redirect': (_request, response) => void response.writeHead(302, { location: '/other' }).end('{"a":1}'),
  'a 404': json({ a: 1 }, 404),
  'a 201': json({ a: 1 }, 201),
  'a 204': (_request, response) => void response.writeHead(204).end(),
  'a 500': json({ a: 1 }, 500),
  'an empty body': body(''),
  'a page': body('<html></html>'),
  'a list': body('[]'),
  'half an object': body('{"a":'),
  'a byte more than the limit': body(filled(limit + 1)),
  'a hundred megabytes': (_request, response) => {
    response.writeHead(200);
    const chunk = Buffer.alloc(limit, 0x20);
    let left = 100;
    const more = () => {
      while (left > 0 && !response.destroyed) {
        left -= 1;
        if (!response.write(chunk)) return void response.once('drain', more);
      }
      response.end();
    };
    more();
  },
  'a compressed body': body(gzipSync('{"a":1}'), { 'content-encoding': 'gzip' }),
  'no answer': () => {},
  'a head without end': (_request, response) => void response.socket?.write('HTTP/1.1 200 OK\r\n'),
  'a body that drips': (_request, response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(drip));
  },
  'a body that breaks off': (_request, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('{"a":1}');
    setTimeout(() => response.destroy(), 10);
  },
  'a response that is not HTTP': (_request, response) => void response.socket?.end('hello\r\n\r\n'),
};
const causes: Record<string, string | RegExp> = {
  'a redirect': 'status 302',
  'a 404': 'status 404',
  'a 201': 'status 201',
  'a 204': 'status 204',
  'a 500': 'status 500',
  'a byte more than the limit': 'UND_ERR_RES_EXCEEDED_MAX_SIZE',
  'a hundred megabytes': 'UND_ERR_RES_EXCEEDED_MAX_SIZE',
  'no answer': 'TimeoutError',
  'a head without end': 'TimeoutError',
  'a body that drips': 'TimeoutError',
  'a body that breaks off': /UND_ERR_|ECONNRESET/,
  'a response that is not HTTP': /HTTPParserError|HPE_/,
};
for (const [name, response] of Object.entries(refused)) {
  t.test(`refused: ${name}`, async (t) => {
    const { provider, network, url } = await setUp(t, response);
    const asked = performance.now();
    const error = await network.getObject(url).catch((caught: unknown) => caught);
    t.match(error, {
      code: 'provider_unavailable',
      options: { cause: causes[name] ?? 'not a JSON object' },
    });
    judgeElapsed(t, asked, 2_000);
    t.equal(provider.count('/doc'), 1, 'asked once');
    t.equal(provider.count('/other'), 0, 'no redirect is followed');
  });
}

t.test("a provider that can't be reached is 503", async (t) => {
  const network = createProviderNetwork({ documentTimeoutMs: 250, fetchTimeoutMs: 250 });
  t.teardown(() => network.close());
  const error = await network.getObject('http://127.0.0.1:1/doc').catch((caught: unknown) => caught);
  t.match(error, {
    code: 'provider_unavailable',
    options: { cause: 'GET http://127.0.0.1:1/doc: ECONNREFUSED' },
  });
});

t.test('a call that was never sent is undone, one that may have been is not', async (t) => {
  const network = createProviderNetwork({ documentTimeoutMs: 250, fetchTimeoutMs: 250 });
  t.teardown(() => network.close());
  const call = { method: 'POST', headers: {} } as const;
  await t.rejects(network.fetch('http://127.0.0.1:1/doc', call), {
    code: 'provider_unavailable',
    isUndone: true,
  });
  for (const response of [
    () => {},
    refused['a response that is not HTTP']!,
    refused['a body that breaks off']!,
  ]) {
    const { url } = await setUp(t, response);
    await t.rejects(network.fetch(url, call), { code: 'provider_unavailable', isUndone: false });
  }
});

t.test('the cause of a failure contains no query', async (t) => {
  const { network, url } = await setUp(t, json({}));
  const error = await network.getObject(`${url}?secret=1`).catch((caught: unknown) => caught);
  t.match(error, { options: { cause: `GET ${url}: status 404` } });
});

t.test("fetch posts a form and returns the provider's errors unchanged", async (t) => {
  let sent = '';
  const { network, url } = await setUp(t, (request, response) => {
    request.on('data', (chunk) => {
      sent += chunk;
    });
    request.on('end', () => json({ error: 'invalid_grant' }, 400)(request, response));
  });
  const response = await network.fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ code: 'a b' }),
  });
  t.equal(response.status, 400);
  t.strictSame(await response.json(), { error: 'invalid_grant' });
  t.equal(sent, 'code=a+b');
});

for (const status of [302, 307, 429, 500, 503]) {
  t.test(`fetch refuses ${status}`, async (t) => {
    const { network, url } = await setUp(t, json({ error: 'invalid_grant' }, status));
    await t.rejects(network.fetch(url, { method: 'POST', headers: {} }), {
      code: 'provider_unavailable',
      isUndone: status === 429 || status === 503,
    });
  });
}

t.test('a provider that hangs gets a bounded number of connections; further calls wait', async (t) => {
  let most = 0;
  const held = new Set<() => void>();
  const { provider, url } = await setUp(t, (request, response) => {
    const release = () => {
      held.delete(release);
      json({})(request, response);
    };
    held.add(release);
    most = Math.max(most, held.size);
  });
  const network = createProviderNetwork();
  t.teardown(() => network.close());
  const calls = Array.from({ length: maxProviderConnections + 8 }, () => network.getObject(url));
  await eventually('all connections are busy', () => held.size === maxProviderConnections);
  let released = 0;
  while (released < calls.length)
    released += await eventually('more have come', () => {
      const now = [...held];
      for (const release of now) release();
      return now.length > 0 && now.length;
    });
  t.strictSame(
    await Promise.all(calls),
    calls.map(() => ({})),
  );
  t.equal(most, maxProviderConnections);
  t.equal(provider.count('/doc'), calls.length);
});

t.test('a provider is found by the lookup it is given, and a lookup that fails is the cause', async (t) => {
  const { url } = await setUp(t, json({ found: true }));
  const { port } = new URL(url);
  const asked: string[] = [];
  const lookup: LookupFunction = (host, options, callback) => {
    asked.push(host);
    t.equal(options.all, true);
    if (host === 'idp.test') callback(null, [{ address: '127.0.0.1', family: 4 }]);
    else callback(Object.assign(new Error(), { code: 'EAI_AGAIN' }), []);
  };
  const network = createProviderNetwork({ lookup });
  t.teardown(() => network.close());
  t.strictSame(await network.getObject(`http://idp.test:${port}/doc`), { found: true });
  await t.rejects(network.getObject(`http://silent.test:${port}/doc`), {
    code: 'provider_unavailable',
    cause: /EAI_AGAIN$/,
    isUndone: true,
  });
  t.strictSame(asked, ['idp.test', 'silent.test']);
});
