import t from 'tap';
import { startDeciding } from '../support/clients/decisions.ts';
import { navigation, startWebGateway } from '../support/pages/web.ts';

const routes = (['bearer', 'basic', 'both'] as const).flatMap((challenge) => [
  { prefix: `/${challenge}`, upstream: 'app', challenge, scopes: ['store:write'] },
  { prefix: `/${challenge}/pages`, upstream: 'app', challenge, browser: true },
]);
const basic = 'Basic realm="acme", charset="UTF-8"';
const bearer = 'Bearer realm="acme"';
const wrong = `${bearer}, error="invalid_token"`;
const twice = `${bearer}, error="invalid_request"`;
const missing = `${bearer}, error="insufficient_scope", scope="store:write"`;

t.test('a route says by which schemes programs may come; browsers are told Bearer alone', async (t) => {
  const { api } = await startWebGateway(t, { api_keys: { basic: true }, routes });
  const { accessToken } = await api.signIn('ada', 'correct horse battery staple');
  const { key } = await api.mintKey(accessToken, { label: 'k', scopes: ['store:read'] });
  const both = { authorization: `Bearer ${accessToken}`, 'x-api-key': key };
  const rows: Record<string, [none: string[], wrong: string[], twice: string[], missing: string[]]> = {
    '/bearer': [[bearer], [wrong], [twice], [missing]],
    '/basic': [[basic], [basic], [], []],
    '/both': [[bearer, basic], [wrong, basic], [twice], [missing]],
  };
  const challenges = async (path: string, headers: Record<string, string>, status: number) => {
    const response = await api.send({ path, headers });
    t.equal(response.status, status, `${path} ${Object.keys(headers)}`);
    return response.headers['www-authenticate'];
  };
  const joined = (values: readonly string[]) => (values.length === 0 ? undefined : values.join(', '));
  const browsers: Record<string, string>[] = [
    { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' },
    { accept: 'text/html' },
  ];
  for (const [path, [none, invalid, ambiguous, insufficient]] of Object.entries(rows)) {
    t.equal(await challenges(path, {}, 401), joined(none));
    t.equal(await challenges(path, { 'x-api-key': 'pst_x' }, 401), joined(invalid));
    t.equal(await challenges(path, both, 400), joined(ambiguous));
    t.equal(await challenges(path, { 'x-api-key': key }, 403), joined(insufficient));
    for (const browser of browsers) {
      t.equal(await challenges(path, browser, 401), bearer);
      t.equal(await challenges(path, { ...browser, 'x-api-key': 'pst_x' }, 401), wrong);
      t.equal(await challenges(path, { ...browser, ...both }, 400), twice);
      t.equal(await challenges(path, { ...browser, 'x-api-key': key }, 403), missing);
    }
    t.equal(await challenges(`${path}/pages`, { ...navigation, 'x-api-key': 'pst_x' }, 401), wrong);
    t.equal(await challenges(`${path}/pages`, {}, 401), joined(none));
  }
  t.equal(await challenges('/api/admin/api-keys/', {}, 401), bearer, 'own endpoints take part in nothing');
});

t.test('Thunderbird’s calendar is offered Basic, although it has Fetch metadata', async (t) => {
  const { api } = await startWebGateway(t, { api_keys: { basic: true }, routes });
  const metadata = {
    'sec-fetch-site': 'same-origin',
    'sec-fetch-mode': 'no-cors',
    'sec-fetch-dest': 'empty',
  };
  const challenges = async (method: string, more: Record<string, string> = {}) => {
    const response = await api.send({ method, path: '/both', headers: { ...metadata, ...more } });
    return response.headers['www-authenticate'];
  };
  for (const method of ['PROPFIND', 'OPTIONS', 'REPORT', 'PUT', 'DELETE'])
    t.equal(await challenges(method), `${bearer}, ${basic}`, method);
  for (const method of ['GET', 'HEAD', 'POST'])
    t.equal(await challenges(method), bearer, `a page can send ${method}`);
  for (const mode of ['cors', 'same-origin', 'navigate', ''])
    t.equal(
      await challenges('PROPFIND', { 'sec-fetch-mode': mode }),
      bearer,
      `a page can send it as ${mode}`,
    );
});

t.test('proxies that hand on the first field alone get one', async (t) => {
  const decided = routes.map((route) => ({ ...route, upstream: 'none', browser: false }));
  const { ask } = await startDeciding(t, { api_keys: { basic: true }, routes: decided });
  for (const mode of ['nginx', 'ingress_nginx', 'haproxy', 'traefik', 'caddy', 'envoy'] as const) {
    const challenges = async (target: string, ...lines: string[]) =>
      (await ask(mode, { target, lines })).values('www-authenticate');
    const isOne = mode.endsWith('nginx');
    t.strictSame(await challenges('/both'), isOne ? [`${bearer}, ${basic}`] : [bearer, basic], mode);
    t.strictSame(await challenges('/basic'), [basic], mode);
    t.strictSame(await challenges('/both', 'Sec-Fetch-Site: same-origin'), [bearer], mode);
    t.strictSame(await challenges('/both', 'Accept: text/html'), [bearer], mode);
  }
});
