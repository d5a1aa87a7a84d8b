import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { clientSecret } from '../../examples/identity-provider/provider.ts';
import { createHttpBrowser, type HttpBrowser } from '../support/clients/http-browser.ts';
import { eventually } from '../support/eventually.ts';
import { startTestGateway } from '../support/gateway/gateway.ts';
import { startOidcProvider } from '../support/servers/oidc-provider.ts';

/** What the provider sent, and the statuses it got. */
const delivered: { readonly form: Record<string, string>; status: number }[] = [];
let deliver: (form: Record<string, string>) => Promise<number>;

/** The provider starts before the gateway, whose port it can't know: this is the address that it has. */
const relay = createServer(async (request, response) => {
  const form = Object.fromEntries(new URLSearchParams(await text(request)));
  const status = await deliver(form);
  delivered.push({ form, status });
  response.writeHead(status).end();
});
relay.listen(0, '127.0.0.1');
await once(relay, 'listening');
t.teardown(() => relay.close());
const backChannelLogoutUri = `http://127.0.0.1:${(relay.address() as AddressInfo).port}/logout`;
const provider = await startOidcProvider(t, { backChannelLogoutUri });

const gateway = await startTestGateway(t, {
  config: {
    identity_providers: {
      idp: {
        issuer: provider.issuer,
        redirect_uri: provider.redirectUri,
        client_id: 'postern-secret',
        client_secret: clientSecret,
        response: 'code',
      },
    },
  },
});
gateway.secrets.add(clientSecret);
const origin = `http://127.0.0.1:${gateway.port}`;
deliver = async (form) => {
  gateway.secrets.add(form.logout_token!);
  const path = '/api/login/idp/back-channel-logout';
  return (await gateway.api.send({ method: 'POST', path, form })).status;
};

async function signIn(browser: HttpBrowser, account: string): Promise<string> {
  const started = await browser.send(`${origin}/api/login/idp/start`);
  const returned = await browser.signInAt(started.json.url, account, provider.redirectUri);
  const form = Object.fromEntries(returned.searchParams);
  const response = await browser.send(`${origin}/api/login/idp/exchange`, { form });
  if (response.status !== 200) throw new Error(`${response.status} ${response.text}`);
  gateway.secrets.add(form.code!);
  return response.json.access_token;
}

/** Signs out at the provider, with its page. */
async function signOutThere(browser: HttpBrowser): Promise<void> {
  const page = await browser.send(`${provider.issuer}/session/end`);
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(page.text)?.[1];
  if (xsrf === undefined) throw new Error(`no form: ${page.text.slice(0, 500)}`);
  await browser.send(`${provider.issuer}/session/end/confirm`, { form: { xsrf, logout: 'yes' } });
}

const statusOf = async (bearer: string) => (await gateway.api.send({ path: '/api/open/x', bearer })).status;

t.test('a sign-out at a real provider ends the sessions that began in that browser', async (t) => {
  const [browser, phone, ofBob] = [createHttpBrowser(), createHttpBrowser(), createHttpBrowser()];
  const first = await signIn(browser, 'alice');
  const second = await signIn(browser, 'alice');
  const elsewhere = await signIn(phone, 'alice');
  const other = await signIn(ofBob, 'bob');
  const all = [first, second, elsewhere, other];
  t.strictSame(await Promise.all(all.map(statusOf)), [200, 200, 200, 200]);
  await signOutThere(browser);
  await eventually('the provider has called', () => delivered.length === 1);
  t.equal(delivered[0]!.status, 200);
  t.strictSame(await Promise.all(all.map(statusOf)), [401, 401, 200, 200]);
  t.equal(await deliver(delivered[0]!.form), 400, 'its token works once');

  await signOutThere(ofBob);
  await eventually('the provider has called again', () => delivered.length === 2);
  t.strictSame(await Promise.all(all.map(statusOf)), [401, 401, 200, 401]);
});
