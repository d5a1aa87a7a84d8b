import t from 'tap';
import { connectRaw } from '../support/clients/raw-client.ts';
import { administrator } from '../support/gateway/gateway.ts';
import { documentedOperations } from '../support/pages/documented-operations.ts';
import {
  cookieNamed,
  navigation,
  ownForm,
  startWebGateway,
  webCookieName,
  webRoutes,
} from '../support/pages/web.ts';

const script = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' };
const ownPages: Readonly<Record<string, Record<string, string>>> = {
  'a program': {},
  'a script of our own origin': { ...script, origin: 'https://acme.example.com' },
  'a form of our own origin': { ...ownForm, origin: 'https://acme.example.com' },
  'a navigation': navigation,
};
/** What no two responses share. */
const variable = /"request_id":"[^"]+"|[0-9a-f]{8}-[0-9a-f-]{27}/g;

t.test('the web cookie opens no call of the API', async (t) => {
  const { api, signIn, open, upstream } = await startWebGateway(t);
  const cookie = await signIn();
  const value = cookie.slice(cookie.indexOf('=') + 1);
  // The same value under the names of the other cookie, and as a token.
  const disguises: readonly {
    readonly cookie?: string;
    readonly bearer?: string;
    readonly apiKey?: string;
  }[] = [
    { cookie },
    { cookie: `${cookie}; service_refresh_cookie=${value}` },
    { cookie: `service_refresh_cookie=${value}` },
    { bearer: value },
    { apiKey: value },
  ];
  for (const [sentence, headers] of Object.entries(ownPages))
    await t.test(sentence, async (t) => {
      for (const { id, method, path } of documentedOperations.values()) {
        const request = { method, path: path.replace(/\{[^}]+\}/g, 'x'), headers };
        for (const disguise of disguises) {
          const response = await api.send({ ...request, ...disguise });
          // The public keys are anyone's.
          t.ok(response.status >= 400 || /Jwks$/.test(id), `${id}: ${response.status}`);
          t.same(response.setCookies, [], id);
          if (!('cookie' in disguise)) continue;
          const without = await api.send(request);
          t.equal(response.status, without.status, `${id} is as without it`);
          t.equal(response.text.replace(variable, ''), without.text.replace(variable, ''), id);
        }
      }
    });
  t.equal(upstream.seen.length, 0);
  t.equal((await open('/app', cookie)).status, 200, 'the session is still alive');
});

t.test('nor a route that is not for browsers, whatever else is sent with it', async (t) => {
  const { api, port, signIn, upstream } = await startWebGateway(t, {
    routes: [...webRoutes, { prefix: '/public', upstream: 'app', public: true }],
    cors: { origins: ['https://partner.example'] },
  });
  const cookie = await signIn();
  for (const headers of [...Object.values(ownPages), { origin: 'https://partner.example' }])
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS']) {
      const refused = await api.send({ method, path: '/api/store', headers, cookie });
      t.equal(refused.status, 401, `${method} ${JSON.stringify(headers)}`);
    }
  const socket = await connectRaw(port);
  socket.write(
    `GET /api/live HTTP/1.1\r\nHost: acme.example.com\r\nCookie: ${cookie}\r\nOrigin: https://acme.example.com\r\n` +
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  t.equal((await socket.response()).status, 401);
  socket.end();
  t.equal(upstream.seen.length, 0);
  await api.send({ path: '/public', headers: navigation, cookie: `a=b; ${cookie}; c=d` });
  const [seen] = upstream.seen;
  t.same(seen?.values('x-auth-subject'), [], 'a public route knows no one by it');
  t.same(seen?.values('cookie'), ['a=b; c=d'], 'and does not pass it on');
});

t.test('the log says why the web cookie did not count', async (t) => {
  const { api, signIn, logLines } = await startWebGateway(t);
  const cookie = await signIn();
  const other = { ...script, 'sec-fetch-site': 'cross-site' };
  const rows: [why: string, path: string, cookie: string, headers: Record<string, string>][] = [
    ['web cookie on a route without browser: true', '/api/orders', cookie, script],
    ['web cookie on a route without browser: true', '/api/orders', `${webCookieName}=forged`, script],
    ['no credential', '/api/orders', 'theme=dark', script],
    ['no credential', '/app', 'theme=dark', script],
    ['session ended', '/app', `${webCookieName}=forged`, script],
    ['foreign page', '/app', cookie, other],
    ['no credential', '/api/self/sessions/', cookie, script],
  ];
  for (const [reason, path, sent, headers] of rows) {
    t.equal((await api.send({ path, cookie: sent, headers })).status, 401);
    const line = logLines().findLast(({ msg }) => msg === 'request');
    t.match(line, { path, outcome: 'not_authenticated', reason }, `${path} ${sent}`);
  }
});

t.test('it reaches no upstream, in whatever way it is sent', async (t) => {
  const { port, signIn, upstream } = await startWebGateway(t);
  const cookie = await signIn();
  const value = cookie.slice(cookie.indexOf('=') + 1);
  const rows: Readonly<Record<string, { readonly sent: string[]; readonly passed: string[] }>> = {
    'among others': { sent: [`a=b; ${cookie}; c=d`], passed: ['a=b; c=d'] },
    'in a header of its own': { sent: ['a=b', cookie, 'c=d'], passed: ['a=b', 'c=d'] },
    'without a space': { sent: [`a=b;${cookie};c=d`], passed: ['a=b;c=d'] },
    'with more blanks and semicolons': { sent: [`a=b;\t ${cookie} ;; c=d`], passed: ['a=b;; c=d'] },
    twice: { sent: [`a=b; ${cookie}; ${cookie}; c=d`], passed: ['a=b; c=d'] },
    'twice, in two headers': { sent: [cookie, `${cookie}; c=d`], passed: ['c=d'] },
    'in quotation marks, too': { sent: [`${cookie}; ${webCookieName}="${value}"; c=d`], passed: ['c=d'] },
    alone: { sent: [cookie], passed: [] },
  };
  for (const [sentence, { sent, passed }] of Object.entries(rows))
    for (const name of ['Cookie', 'COOKIE']) {
      const connection = await connectRaw(port);
      const lines = sent.map((text) => `${name}: ${text}`);
      connection.write(['GET /app HTTP/1.1', 'Host: acme.example.com', ...lines, '\r\n'].join('\r\n'));
      t.equal((await connection.response()).status, 200, `${name}, ${sentence}`);
      connection.end();
      const seen = upstream.seen.at(-1);
      t.same(seen?.values('cookie'), passed, 'the service sees the other cookies');
      const text = seen?.rawHeaders.join('\n') ?? '';
      t.notOk(text.includes(value) || text.includes(webCookieName), 'and ours nowhere');
    }
  t.equal(upstream.seen.length, 2 * Object.keys(rows).length);
});

t.test('no upstream sets a cookie of its name, however that is spelt', async (t) => {
  const { open, signIn, upstream } = await startWebGateway(t);
  const cookie = await signIn();
  const planted = [
    `${webCookieName}=planted`,
    `${webCookieName} =planted`,
    ` ${webCookieName}=planted; Path=/`,
    `\t${webCookieName}\t=\tplanted`,
    `${webCookieName}=`,
    `${webCookieName}`,
    `${webCookieName}; Path=/`,
    `=${webCookieName}=planted`,
    `${webCookieName}=; Max-Age=0`,
    `${webCookieName}=planted; Domain=acme.example.com`,
  ];
  const kept = ['theme=dark', `x${webCookieName}=1`, `${webCookieName}x=1`, 'a=b; Path=/app'];
  upstream.response = (_request, response) =>
    response.writeHead(200, { 'set-cookie': [...planted, ...kept] }).end('page');
  t.same((await open('/app', cookie)).setCookies, kept);
});

t.test('a cookie that a neighbouring host planted under another name does not sign in', async (t) => {
  const { port, signIn, upstream } = await startWebGateway(t);
  const cookie = await signIn();
  // Browsers let any host of the site set such a name: it doesn't begin with `__Host-`.
  for (const planted of [`\xa0${cookie}`, `\x85${cookie}`, `=${cookie}`, `${cookie.replace('=', '\xa0=')}`]) {
    const connection = await connectRaw(port);
    connection.write(`GET /app HTTP/1.1\r\nHost: acme.example.com\r\nCookie: a=b; ${planted}\r\n\r\n`);
    t.equal((await connection.response()).status, 401, JSON.stringify(planted.slice(0, 3)));
    connection.end();
  }
  t.equal(upstream.seen.length, 0);
});

t.test('a sign-in with the cookie of someone else is a session of one’s own', async (t) => {
  const { api, open, submit, signIn } = await startWebGateway(t);
  const planted = await signIn();
  const { accessToken: bearer } = await api.signIn(administrator.username, administrator.password);
  const json = { username: 'grace', password: administrator.password };
  await api.send({ method: 'POST', path: '/api/admin/users/', bearer, json });
  const signedIn = await submit('/postern/sign-in', json, planted);
  const own = cookieNamed(signedIn, webCookieName)!;
  t.not(own, planted, 'never the session that was there before');
  t.match((await open('/postern/', own)).text, /grace/);
  t.equal((await open('/app', planted)).status, 302, 'which has ended');
});
