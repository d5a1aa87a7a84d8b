import t from 'tap';
import { startForwarding } from '../support/gateway/forwarding.ts';
import { plainResponse, startRawUpstream } from '../support/servers/raw-upstream.ts';

t.test('only the path decides where a request goes', async (t) => {
  const named = (name: string) => startRawUpstream(t, ({ socket }) => socket.write(plainResponse(name)));
  const [one, two, three] = [await named('one'), await named('two'), await named('three')];
  const { api, key } = await startForwarding(t, {
    upstreams: { one: { url: one.url }, two: { url: two.url }, three: { url: three.url } },
    routes: [
      { prefix: '/api/', upstream: 'one' },
      { prefix: '/api/store', upstream: 'two' },
      { exact: '/api/store/special', upstream: 'three' },
      { prefix: '/Files', upstream: 'three' },
      { prefix: '/', upstream: 'one', public: true },
    ],
  });
  const rows: [string, string, string][] = [
    ['the shorter prefix', '/api/other', 'one'],
    ['the longer prefix', '/api/store/x', 'two'],
    ['the longer prefix itself', '/api/store', 'two'],
    ['the longer prefix with a trailing slash', '/api/store/', 'two'],
    ['whole segments', '/api/stores', 'one'],
    ['exact', '/api/store/special', 'three'],
    ['exact with a trailing slash', '/api/store/special/', 'three'],
    ['nothing below exact', '/api/store/special/x', 'two'],
    ['a query decides nothing', '/api/other?/api/store', 'one'],
    ['the root', '/', 'one'],
    ['a route in capitals', '/Files/x', 'three'],
  ];
  for (const [name, path, text] of rows)
    t.match(await api.send({ path, apiKey: key }), { status: 200, text }, name);

  for (const path of ['/api/Store/x', '/API/store/x', '/api/store/Special', '/files/x', '/api/Login/x'])
    t.match(await api.send({ path, apiKey: key }), { status: 404, json: { code: 'not_found' } }, path);

  const lies = {
    'X-Forwarded-Host': 'other',
    'X-Forwarded-Prefix': '/api/store',
    'X-Original-URL': '/api/store/x',
    'X-Rewrite-URL': '/api/store/x',
    'X-HTTP-Method-Override': 'DELETE',
    'User-Agent': 'kube-probe/1.30',
  };
  t.equal((await api.send({ path: '/api/other', apiKey: key, headers: lies })).text, 'one');
});

t.test('a path without a route is 404, with and without a credential', async (t) => {
  const { api, key, upstream } = await startForwarding(t);
  for (const path of ['/', '/ap', '/apis', '/index.html', '/.well-known/openid-configuration'])
    t.match(await api.send({ path, apiKey: key }), { status: 404, json: { code: 'not_found' } }, path);
  t.equal((await api.send({ path: '/' })).status, 404);
  t.equal((await api.send({ path: '/', headers: { authorization: 'Basic x' } })).status, 404);
  t.equal(upstream.seen.length, 0);
});
