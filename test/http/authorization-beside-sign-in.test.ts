import t from 'tap';
import type { ApiResponse } from '../support/clients/api-client.ts';
import { eventually } from '../support/eventually.ts';
import type { TestGateway } from '../support/gateway/gateway.ts';
import { navigation, ownForm, startWebGateway } from '../support/pages/web.ts';

/** The access line of a response. */
function lineOf({ headers }: ApiResponse, logLines: TestGateway['logLines']) {
  const id = headers['x-request-id'];
  return eventually(`a line of ${id}`, () => logLines().find((line) => line.request_id === id));
}

const html = { accept: 'text/html' };

t.test('a navigation with a refused Authorization or X-API-Key gets a page, and no redirect', async (t) => {
  const { api, signIn, logLines, upstream } = await startWebGateway(t);
  const cookie = await signIn();
  const rows: readonly [sentence: string, headers: Record<string, string>, code: string][] = [
    ['a password that the browser keeps', { authorization: 'Basic YTpi' }, 'not_authenticated'],
    ['another scheme', { authorization: 'Negotiate YTpi' }, 'not_authenticated'],
    ['an empty one', { authorization: '' }, 'not_authenticated'],
    ['a token of another', { authorization: 'Bearer nonsense' }, 'invalid_token'],
    ['a key of another', { 'x-api-key': 'nonsense' }, 'invalid_api_key'],
  ];
  for (const [sentence, headers, code] of rows)
    for (const browser of [navigation, html])
      for (const cookies of [{ cookie }, {}])
        for (const method of ['GET', 'HEAD', 'POST']) {
          const sent = { method, path: '/app/x', headers: { ...browser, ...headers }, ...cookies };
          const response = await api.send(sent);
          t.match(response, { status: 401, headers: { 'content-type': /^text\/html/ } }, sentence);
          t.match(
            response.headers,
            { 'www-authenticate': /^Bearer realm="acme"/ },
            'no dialogue is asked for',
          );
          t.equal(response.headers.location, undefined);
          if (method !== 'HEAD') t.match(response.text, /Your browser sent another password/);
          t.match(await lineOf(response, logLines), {
            outcome: code,
            reason: 'authorization beside the sign-in',
          });
        }
  t.equal(upstream.seen.length, 0);
});

t.test('what is no navigation, or no browser route, is refused as ever', async (t) => {
  const { api, open, signIn, logLines } = await startWebGateway(t);
  const cookie = await signIn();
  const basic = { authorization: 'Basic YTpi' };
  const script = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' };
  for (const [path, headers] of [
    ['/app', script],
    ['/app', {}],
    ['/api/store', navigation],
  ] as const) {
    const response = await api.send({ path, headers: { ...headers, ...basic }, cookie });
    t.match(response, { status: 401, json: { code: 'not_authenticated' } });
    t.equal((await lineOf(response, logLines)).reason, 'not a bearer token');
  }
  t.equal((await open('/app')).status, 302, 'without it people are led to the sign-in page');
  t.equal((await open('/app', cookie)).status, 200);
  const open401 = await api.send({ method: 'POST', path: '/app', form: {}, headers: ownForm });
  t.match(open401.text, /Please sign in/);
  const passed = await api.send({ path: '/site', headers: { ...navigation, ...basic } });
  t.equal(passed.status, 200, 'on a public route another scheme passes');
});
