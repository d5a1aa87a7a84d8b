import type { BrowserContext, Page } from 'playwright-core';
import t from 'tap';
import {
  es256,
  claims as exampleClaims,
  forge,
  header,
  jwkOf,
} from '../support/corpora/forged-assertions.ts';
import { administrator } from '../support/gateway/gateway.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { type ConsoleGateway, settled, startConsole } from '../support/pages/console.ts';
import { navigation } from '../support/pages/web.ts';
import { json, publish, type StubProvider, startStubProvider } from '../support/servers/stub-provider.ts';

t.setTimeout(600_000);

const grants = [
  { claim: 'groups', value: 'staff', scopes: ['store:read'], scope_sets: ['office'] },
  { claim: 'groups', value: 'admins', scope_sets: ['administrator'] },
];

/** Signs carol in through the provider, towards the console: the browser has her cookies then. */
async function signInAt(
  stub: StubProvider,
  { api, origin }: ConsoleGateway,
  context: BrowserContext,
  groups: readonly string[],
): Promise<void> {
  const path = '/postern/sign-in/staff?return_to=%2Fpostern%2Fconsole%2F';
  const left = await api.send({ path, headers: navigation });
  const { state, nonce } = Object.fromEntries(new URL(left.headers.location ?? '').searchParams);
  const iat = Math.floor(Date.now() / 1000);
  const about = { sub: 'carol', preferred_username: 'carol', groups, nonce };
  const idToken = forge(header, { ...exampleClaims, iss: stub.origin, iat, exp: iat + 300, ...about });
  stub.responses.set('/token', json({ access_token: 'a', token_type: 'Bearer', id_token: idToken }));
  const cookie = left.setCookies[0]!.split(';', 1)[0]!;
  const headers = { ...navigation, 'sec-fetch-site': 'cross-site' };
  const back = await api.send({ path: `/postern/callback/staff?code=c&state=${state}`, cookie, headers });
  const cookies = back.setCookies.map((line) => {
    const [name = '', value = ''] = line.split(';', 1)[0]!.split('=');
    return { name, value, url: origin };
  });
  await context.addCookies(cookies.filter(({ value }) => value !== ''));
}

/** Where each scope comes from, as the page of a user says. */
async function sourcesOn(page: Page): Promise<Record<string, string>> {
  const rows = await page.$$eval('section[aria-labelledby=effective] tbody tr', (found) =>
    found.map((row) =>
      ['code', 'td:last-child'].map((cell) =>
        (row.querySelector(cell) as unknown as { innerText: string }).innerText.trim(),
      ),
    ),
  );
  return Object.fromEntries(rows);
}

t.test('the console says which scopes come only with which sign-in', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const stub = await startStubProvider(t);
  publish(stub, [jwkOf(es256)]);
  const config = {
    identity_providers: { staff: { issuer: stub.origin, client_id: 'postern', grants } },
  };
  const gateway = await startConsole(t, { config });
  const { api, origin, open } = gateway;
  const { accessToken: bearer } = await api.signIn(administrator.username, administrator.password);
  const set = { name: 'office', scopes: ['audit:read', 'store:write'] };
  await api.send({ method: 'POST', path: '/api/admin/scope-sets/', bearer, json: set });
  await signInAt(stub, gateway, context, ['staff']);
  await context.clearCookies();
  const found = await api.send({ path: '/api/admin/users/?username__eq=carol', bearer });
  const { id } = found.json.items[0];
  const path = `/api/admin/users/${id}`;
  await api.send({ method: 'PATCH', path, bearer, json: { scopes: ['store:write'] } });

  const page = await open(context, 'administrator', `users/${id}`);
  t.strictSame(await sourcesOn(page), {
    'audit:read': 'only the set office, by a sign-in through staff',
    'store:read': 'only a sign-in through staff',
    'store:write': 'given directly; the set office, by a sign-in through staff',
  });
  t.match(
    await page.innerText('main'),
    'What comes only from a sign-in counts in the sessions that begin with it',
  );
  await page.click('text=New key for carol');
  await page.waitForSelector('dialog input[value="store:write"]');
  t.equal(
    await page.$('dialog input[value="store:read"]'),
    null,
    'nobody else can mint what only she is granted',
  );
  await context.clearCookies();

  await api.send({ method: 'PATCH', path, bearer, json: { scopes: ['store:write', 'users:read'] } });
  await signInAt(stub, gateway, context, ['admins']);
  const own = await context.newPage();
  await own.goto(`${origin}/postern/console/account`);
  await settled(own);
  await own.waitForSelector('text=Only because you signed in through staff');
  const only = await own.innerText('p:has-text("Only because you signed in through staff:")');
  t.match(only, 'store:read');
  t.notMatch(only, 'store:write', 'which is her own');
  await context.clearCookies();

  const json = { password: 'a password of the tests' };
  await api.send({ method: 'PATCH', path, bearer, json });
  const byPassword = await context.newPage();
  await byPassword.goto(`${origin}/postern/console/account`);
  await byPassword.fill('[name=username]', 'carol');
  await byPassword.fill('[name=password]', json.password);
  await byPassword.click('main button[type=submit]');
  await settled(byPassword);
  await byPassword.waitForSelector('text=With a sign-in through staff, besides:');
  t.notMatch(await byPassword.innerText('main'), 'Only because you signed in');
});
