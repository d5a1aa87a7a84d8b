import type { BrowserContext, Page, Request } from 'playwright-core';
import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { addMany, addSome, type Role, roles, settled, startConsole } from '../support/pages/console.ts';
import { complaintsOf, overflows, rulesOfLooks, violationsOf } from '../support/pages/page-judge.ts';

t.setTimeout(isLong ? 2_400_000 : 600_000);

/** Each part, and the scope that it takes. */
const parts = {
  'api-keys': ['API keys', 'apikeys:read'],
  sessions: ['Sessions', 'sessions:read'],
  users: ['Users', 'users:read'],
  'scope-sets': ['Scope sets', 'scopesets:read'],
  audit: ['Audit', 'audit:read'],
  account: ['Your account', null],
} as const;

const everyone: readonly Role[] = [...(Object.keys(roles) as Role[]), 'administrator'];
const scopesOf = (role: Role): readonly string[] | null => (role === 'administrator' ? null : roles[role]);
const mayUse = (role: Role, scope: string | null) =>
  scope === null || (scopesOf(role)?.includes(scope) ?? true);

async function judgeLooks(t: Test, page: Page, what: string): Promise<void> {
  t.strictSame(await violationsOf(page), [], what);
  const looks = isLong
    ? ([320, 640, 1280, 2560] as const).flatMap((width) =>
        (['light', 'dark'] as const).map((scheme) => [width, scheme] as const),
      )
    : ([
        [320, 'dark'],
        [1280, 'light'],
      ] as const);
  for (const [width, colorScheme] of looks) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    t.notOk(await overflows(page), `${what}: nothing is cut off at ${width}`);
    t.strictSame(await violationsOf(page, rulesOfLooks), [], `${what}: ${colorScheme} at ${width}`);
  }
}

const contents = ['empty', 'some', 'many'] as const;

t.test('every part, for every role', async (t) => {
  const context = await openBrowser(t, { reducedMotion: 'reduce' });
  if (context === null) return;
  const gateway = await startConsole(t);
  for (const [amount, content] of contents.entries()) {
    if (content === 'some') await addSome(gateway);
    if (content === 'many') addMany(gateway, isLong ? 100_000 : 300);
    for (const [index, role] of everyone.entries())
      await t.test(`${role}, ${content}`, async (t) => {
        const own = await newContext(context);
        const page = await gateway.open(own, role);
        const complaints = complaintsOf(page);
        const offered = Object.values(parts).filter(([, scope]) => mayUse(role, scope));
        t.strictSame(
          await page.locator('nav[aria-label=Console] a').allTextContents(),
          offered.map(([label]) => label),
        );
        for (const [at, [name, [label, scope]]] of Object.entries(parts).entries()) {
          // Pairwise in the default size: each two of part, role and amount meet.
          if (!isLong && (at + index + amount) % contents.length !== 0) continue;
          await page.goto(`${gateway.origin}/postern/console/${name}`);
          await settled(page);
          t.equal(await page.textContent('h1'), label);
          t.equal(await page.title(), `${label} · Orders`);
          if (!mayUse(role, scope)) {
            await page.waitForSelector('main [role=alert]');
            const text = (await page.innerText('main')).replace(/\s+/g, ' ');
            t.match(text, `Missing: ${scope} 403 insufficient_scope · request `);
          }
          // Three times as long as all else here: each part once in the default size.
          if (isLong || amount === at % contents.length) await judgeLooks(t, page, `${name}, ${role}`);
        }
        const others = complaints.filter((text) => !/responded with a status of 403/.test(text));
        t.strictSame(others, []);
        await own.close();
      });
  }
});

/** Another person's browser. */
async function newContext(context: BrowserContext): Promise<BrowserContext> {
  return context.browser()!.newContext({ reducedMotion: 'reduce' });
}

/** Of the console with all it loads, as sent, in bytes; in docs/console.md. */
const maxWeight = 128 * 1024;

const weightOf = ({ responseHeadersSize, responseBodySize }: Awaited<ReturnType<Request['sizes']>>) =>
  responseHeadersSize + responseBodySize;

t.test('at most three requests before the first row, and nothing in any storage', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const gateway = await startConsole(t);
  await addSome(gateway);
  const page = await gateway.open(context, 'administrator');
  const devTools = await context.newCDPSession(page);
  await devTools.send('Network.enable');
  await devTools.send('Network.setCacheDisabled', { cacheDisabled: true });
  const asked: string[] = [];
  const sizes: Promise<number>[] = [];
  const isCall = (url: string) => new URL(url).pathname.startsWith('/api/');
  page.on('request', (request) => isCall(request.url()) && asked.push(request.url()));
  page.on('requestfinished', (request) => {
    if (!isCall(request.url())) sizes.push(request.sizes().then(weightOf));
  });
  await page.goto(`${gateway.origin}/postern/console/api-keys`);
  await page.waitForSelector('tbody tr td strong');
  t.ok(asked.length <= 3, asked.join(' '));
  const weight = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  t.ok(
    sizes.length > 15 && weight > maxWeight / 10 && weight < maxWeight,
    `${sizes.length} files of ${weight} bytes`,
  );
  const stored = await page.evaluate<string>(
    `JSON.stringify([Object.keys(localStorage), Object.keys(sessionStorage), document.cookie])`,
  );
  t.equal(stored, '[[],[],""]');
  t.strictSame(await page.evaluate('indexedDB.databases().then((all) => all.length)'), 0);
});

t.test('filters, order and page are in the address', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const gateway = await startConsole(t);
  await addSome(gateway);
  const page = await gateway.open(context, 'administrator', 'api-keys');
  const labels = () => page.locator('tbody td strong').allTextContents();
  const shows = (count: number) => eventually(`${count} rows`, async () => (await labels()).length === count);
  await shows(50);
  await page.click('text=Next');
  await shows(10);
  t.match(page.url(), 'cursor=');
  await page.goBack();
  await shows(50);
  await page.click('thead >> text=Label');
  await eventually('the last label is first', async () => (await labels())[0] === 'export 9');
  t.match(page.url(), 'sort_by=label&sort_order=desc');
  await page.fill('[name=label__contains]', 'export 4');
  await page.click('form.filters button[type=submit]');
  await shows(11);
  const shared = page.url();
  const other = await context.newPage();
  await other.goto(shared);
  await settled(other);
  t.strictSame(
    await other.locator('tbody td strong').allTextContents(),
    await labels(),
    'everyone who opens it sees the same',
  );
  await page.fill('[name=label__contains]', 'nothing like that');
  await page.click('form.filters button[type=submit]');
  await page.waitForSelector('.empty');
  t.match(await page.textContent('main'), /Nothing here matches.*Show all keys/s);
});

t.test('two administrators change the same record', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const gateway = await startConsole(t);
  await addSome(gateway);
  const first = await gateway.open(context, 'administrator', 'users?username__eq=grace');
  await first.click('td >> text=grace');
  await first.waitForSelector('[name=email]');
  const second = await context.newPage();
  await second.goto(first.url());
  await second.waitForSelector('[name=email]');
  await first.fill('[name=email]', 'hopper@example.com');
  await first.click('text=Save');
  await first.waitForSelector('text=Saved.');
  await second.fill('[name=display_name]', 'Rear Admiral Hopper');
  await second.click('text=Save');
  await second.waitForSelector('text=Someone else has changed');
  t.match(await second.textContent('form.edit'), 'Email: grace@example.com → hopper@example.com');
  t.equal(
    await second.inputValue('[name=display_name]'),
    'Rear Admiral Hopper',
    'what was typed is still there',
  );
  await second.click('text=Show what is there now');
  await eventually(
    'the other’s change is shown',
    async () => (await second.inputValue('[name=email]')) === 'hopper@example.com',
  );
});

t.test('a session that ends elsewhere leads to the sign-in page and back', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const gateway = await startConsole(t);
  const page = await gateway.open(context, 'administrator', 'audit?event__eq=login_succeeded');
  const { accessToken: bearer } = await gateway.api.signIn('ada', 'correct horse battery staple');
  await gateway.api.send({ method: 'DELETE', path: '/api/self/sessions/?others=true', bearer });
  await page.click('nav >> text=API keys');
  await page.waitForURL(/\/postern\/sign-in\?return_to=%2Fpostern%2Fconsole%2Fapi-keys&ended$/);
  t.match(await page.textContent('main'), 'Your session has ended. Sign in to go on.');
});

t.test('nobody acts as someone else who has signed in since', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const gateway = await startConsole(t);
  const page = await gateway.open(context, 'administrator', 'api-keys');
  await page.click('text=New key');
  await page.fill('[name=label]', 'of the administrator');
  await page.check('[name=scopes][value="store:read"]');
  const other = await context.newPage();
  await other.goto(page.url());
  await settled(other);
  await other.click('text=Sign out');
  await other.waitForURL(/signed-out/);
  const second = await gateway.open(context, 'key manager', 'api-keys');
  await page.click('text=Create key');
  await eventually('the first page asks who is there', () =>
    page.url().endsWith('/postern/sign-in?return_to=%2Fpostern%2Fconsole%2Fapi-keys'),
  );
  await second.reload();
  await settled(second);
  t.match(await second.textContent('main'), 'There are no API keys yet');
});
