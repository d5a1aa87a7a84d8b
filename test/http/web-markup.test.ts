import t, { type Test } from 'tap';
import type { ApiResponse } from '../support/clients/api-client.ts';
import { shownText } from '../support/corpora/shown-text.ts';
import { administrator, startTestGateway } from '../support/gateway/gateway.ts';
import { policy } from '../support/pages/page-server.ts';
import { markupFamilies, someMarkupTexts, structureOf } from '../support/pages/page-texts.ts';
import {
  cookieNamed,
  navigation,
  ownForm,
  startWebGateway,
  webCookieName,
  webRoutes,
} from '../support/pages/web.ts';
import { publish, startStubProvider } from '../support/servers/stub-provider.ts';

t.setTimeout(120_000);

const unthrottled = { per_account_and_address: 1e6, per_account: 1e6, per_address: 1e6 };
const { username, password } = administrator;

/** Whatever the text, the page is the same, with the same headers. */
function judge(t: Test, text: string, response: ApiResponse, harmless: ApiResponse): void {
  t.strictSame(judgedOf(response), { ...judgedOf(harmless), policy, setCookies: [] }, shownText(text));
}

const judgedOf = ({ status, headers, setCookies, text }: ApiResponse) => ({
  status,
  setCookies,
  policy: headers['content-security-policy'],
  type: headers['content-type'],
  options: headers['x-content-type-options'],
  structure: structureOf(text),
});

/** Judges what `send` gets for every text beside what it gets for a harmless one. */
async function judgeAll(t: Test, send: (text: string) => Promise<ApiResponse>): Promise<void> {
  const harmless = await send('text');
  t.match(harmless.headers['content-type'], /^text\/html/);
  for (const text of someMarkupTexts) judge(t, text, await send(text), harmless);
}

t.test('whatever a browser is made to send, its page is the same', async (t) => {
  const stub = await startStubProvider(t);
  publish(stub, [], {});
  const { api, open, submit, signIn } = await startWebGateway(t, {
    login_throttle: unthrottled,
    identity_providers: { staff: { issuer: stub.origin, client_id: 'postern' } },
    routes: [...webRoutes, { prefix: '/closed', upstream: 'app', browser: true, scopes: ['store:read'] }],
  });
  const cookie = await signIn();
  const sends: Readonly<Record<string, (text: string) => Promise<ApiResponse>>> = {
    // Without what no place may hold: the page would have no field for it.
    'a place to return to': (text) =>
      open(
        `/postern/sign-in?${new URLSearchParams({ return_to: `/app?${text.replace(/[\\\p{Cc}]/gu, '')}` })}`,
      ),
    'a user name and a place, by the form': (text) =>
      submit('/postern/sign-in', { username: text, password: 'wrong', return_to: text }),
    'an error of a provider': (text) =>
      open(
        `/postern/callback/staff?${new URLSearchParams({ error: text, error_description: text, state: text })}`,
      ),
    'a code and a state': (text) =>
      open(`/postern/callback/staff?${new URLSearchParams({ code: text, state: text })}`),
    'the token of an invitation': (text) => submit('/postern/invitation', { token: text, password: 'short' }),
    'a provider where it was not': (text) =>
      open(`/postern/signed-out?${new URLSearchParams({ provider: text })}`),
    'a password that is wrong': (text) =>
      submit('/postern/password', { current_password: text, new_password: 'short' }, cookie),
    'a form for the service': (text) =>
      api.send({
        method: 'POST',
        path: `/closed?${encodeURIComponent(text)}`,
        form: { text },
        headers: ownForm,
      }),
  };
  for (const [name, send] of Object.entries(sends)) await t.test(name, (t) => judgeAll(t, send));

  await t.test('a path without a page', async (t) => {
    const at = (text: string) => open(`/postern/none-${encodeURIComponent(text)}`);
    // Separators and control characters are refused in a path.
    const harmless = new Map([404, 400].map((status) => [status, at(status === 404 ? 'text' : ';')]));
    for (const text of someMarkupTexts) {
      const response = await at(text);
      judge(t, text, response, (await harmless.get(response.status))!);
    }
  });

  await t.test('a request id', async (t) => {
    for (const text of someMarkupTexts) {
      const id = text.replace(/[^\x20-\x7e\x80-\xff]/g, '-');
      const page = await api.send({ path: '/postern/none', headers: { ...navigation, 'x-request-id': id } });
      t.match(page.headers['x-request-id'], /^[A-Za-z0-9._-]{1,128}$/, shownText(text));
      t.ok(page.text.includes(`<code id="request-id">${page.headers['x-request-id']}</code>`));
    }
  });
});

t.test('names of users are shown as they are', async (t) => {
  const { api, open, submit } = await startWebGateway(t, { login_throttle: unthrottled });
  const { accessToken: bearer } = await api.signIn(username, password);
  const users = '/api/admin/users/';
  const json = { username: 'eve', password, display_name: 'text' };
  const { id } = (await api.send({ method: 'POST', path: users, bearer, json })).json;
  const patch = (json: object) => api.send({ method: 'PATCH', path: users + id, bearer, json });
  const cookie = cookieNamed(await submit('/postern/sign-in', { username: 'eve', password }), webCookieName)!;
  const pages = ['/postern/', '/postern/password'];
  const harmless = new Map<string, ApiResponse>();
  for (const path of pages) harmless.set(path, await open(path, cookie));
  let accepted = 0;
  for (const text of someMarkupTexts) {
    const both = await patch({ username: text.trim().slice(0, 120), display_name: text });
    accepted += Number(both.status === 200);
    if (both.status !== 200 && (await patch({ display_name: text })).status !== 200) continue;
    for (const path of pages) judge(t, text, await open(path, cookie), harmless.get(path)!);
  }
  t.ok(accepted > someMarkupTexts.length * 0.6, `${accepted} of ${someMarkupTexts.length} may be names`);
});

t.test('the first administrator is asked for, whatever was sent', async (t) => {
  const { api } = await startTestGateway(t, { config: { web: {}, login_throttle: unthrottled } });
  await judgeAll(t, (text) => {
    const form = { token: text, username: text.replace(/\p{C}/gu, '-'), password: 'short' };
    return api.send({ method: 'POST', path: '/postern/activate', form, headers: ownForm });
  });
});

t.test('the operator may call the place anything', async (t) => {
  const { open, reload } = await startWebGateway(t);
  const called = async (title: string) => {
    await reload({ web: { title }, routes: webRoutes });
    return open('/postern/sign-in');
  };
  const harmless = await called('text');
  for (const { values } of markupFamilies)
    for (const text of [values[0]!, values.at(-1)!]) judge(t, text, await called(text), harmless);
});
