import type { Page, Request } from 'playwright-core';
import t from 'tap';
import { openBrowser } from '../support/pages/browser.ts';
import { createSite, servePages } from '../support/pages/page-server.ts';
import { pageStates } from '../support/pages/page-states.ts';

t.setTimeout(600_000);

/** What has the focus: its text or its name, and whether that can be seen. */
const focused = (page: Page) =>
  page.evaluate<string>(`(() => {
    const element = document.activeElement;
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    const seen = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2;
    return (element.name || element.textContent.trim().replace(/\\s+/g, ' ')) + (seen ? '' : ' (not seen)');
  })()`);

/** What has the focus at first (empty: nothing), and where the tab key leads until it has been everywhere. */
async function tabOrder(page: Page): Promise<string[]> {
  const nothing = 'document.activeElement === document.body';
  const order = [(await page.evaluate(nothing)) ? '' : await focused(page)];
  while (order.length < 20) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(nothing)) return order;
    const next = await focused(page);
    if (next === order[0]) return order;
    order.push(next);
  }
  return order;
}

const orders: Readonly<Record<string, readonly string[]>> = {
  'sign-in-providers': [
    'username',
    'password',
    'Show password',
    'Sign in',
    'Sign in with Acme Login',
    'Sign in with Partner Directory',
  ],
  'sign-in-wrong': [
    'password',
    'Show password',
    'Sign in',
    'Sign in with Acme Login',
    'Sign in with Partner Directory',
  ],
  'sign-in-again': ['password', 'Show password', 'Sign in'],
  activate: ['token', 'username', 'password', 'Show password', 'Create administrator'],
  'activate-fields': ['username', 'password', 'Show password', 'Create administrator'],
  'invitation-fields': ['password', 'Show new password', 'Set password'],
  'password-wrong': [
    'current_password',
    'Show current password',
    'new_password',
    'Show new password',
    'Change password',
    'Cancel',
  ],
  home: ['', 'Open the console', 'Change password', 'Sign out'],
  'error-internal': ['', 'Try again', 'Go to the start page', 'Copy request id'],
};

t.test('in a browser', async (t) => {
  const context = await openBrowser(t, { permissions: ['clipboard-read', 'clipboard-write'] });
  if (context === null) return;
  const origin = await servePages(t, createSite(), pageStates);
  const page = await context.newPage();

  for (const [name, order] of Object.entries(orders)) {
    await t.test(`the keyboard alone goes through ${name}`, async (t) => {
      await page.goto(`${origin}/${name}`);
      t.strictSame(await tabOrder(page), order);
    });
  }

  await t.test('a password is sent as typed, with the address to come back to', async (t) => {
    await page.goto(`${origin}/sign-in`);
    await page.keyboard.type('alice');
    await page.keyboard.press('Tab');
    await page.keyboard.type('correct horse');
    const sent = page.waitForRequest((request) => request.method() === 'POST');
    await page.keyboard.press('Enter');
    const request = await sent;
    t.equal(request.url(), `${origin}/postern/sign-in`);
    t.equal(request.postData(), 'return_to=%2Fstore%2F&username=alice&password=correct+horse');
  });

  await t.test('a password can be shown, and is hidden again before it is sent', async (t) => {
    await page.goto(`${origin}/sign-in`);
    const type = () => page.getAttribute('#password', 'type');
    await page.fill('#username', 'alice');
    await page.fill('#password', 'correct horse');
    await page.click('text=Show password');
    t.equal(await type(), 'text');
    await page.click('text=Hide password');
    t.equal(await type(), 'password');
    await page.click('text=Show password');
    await page.evaluate(`document.forms[0].addEventListener('submit', (event) => event.preventDefault())`);
    await page.click('button[type=submit]');
    t.equal(await type(), 'password');
  });

  await t.test('a token moves from the address into the form', async (t) => {
    await page.goto(`${origin}/invitation?a=b#token=a%2Bb%26c`);
    t.equal(page.url(), `${origin}/invitation?a=b`);
    t.equal(await page.inputValue('#token'), 'a+b&c');
    t.notOk(await page.isVisible('#token'));
    t.equal(await focused(page), 'password');
    await page.keyboard.type('correct horse battery');
    const sent = page.waitForRequest((request) => request.method() === 'POST');
    await page.keyboard.press('Enter');
    t.equal((await sent).postData(), 'token=a%2Bb%26c&password=correct+horse+battery');
  });

  for (const name of ['invitation', 'invitation-invalid', 'activate', 'activate-fields', 'activate-already'])
    await t.test(`a second link in the tab of ${name} opens it anew`, async (t) => {
      await page.goto(`${origin}/${name}#token=first`);
      const asked: string[] = [];
      const note = (request: Request) => request.isNavigationRequest() && asked.push(request.method());
      page.on('request', note);
      await Promise.all([page.waitForEvent('load'), page.evaluate(`location.hash = '#token=second'`)]);
      page.off('request', note);
      t.strictSame(asked, ['GET'], 'loaded, and nothing sent again');
      if (await page.locator('[data-token-field] input').count()) {
        t.equal(await page.inputValue('#token'), 'second');
        t.equal(page.url(), `${origin}/${name}`);
      }
    });

  await t.test('without a token in the address there is a field for it', async (t) => {
    await page.goto(`${origin}/invitation#elsewhere`);
    t.ok(await page.isVisible('#token'));
    t.equal(await focused(page), 'token');
  });

  await t.test('a request id can be copied', async (t) => {
    await page.goto(`${origin}/error-internal`);
    await page.click('text=Copy request id');
    await page.waitForSelector('text=Copied request id');
    t.equal(await page.innerText('[role=status]'), 'Copied');
    t.equal(await page.evaluate('navigator.clipboard.readText()'), await page.innerText('#request-id'));
  });
});

t.test('in a browser without scripts', async (t) => {
  const context = await openBrowser(t, { javaScriptEnabled: false });
  if (context === null) return;
  const origin = await servePages(t, createSite(), pageStates);
  const page = await context.newPage();

  await t.test('no button is there that would do nothing', async (t) => {
    for (const name of ['sign-in', 'error-internal']) {
      await page.goto(`${origin}/${name}`);
      t.equal(await page.locator('button:visible:not([type=submit])').count(), 0, name);
    }
  });

  await t.test('a token is pasted', async (t) => {
    await page.goto(`${origin}/invitation#token=abc`);
    await page.fill('#token', 'abc');
    await page.fill('#password', 'correct horse battery');
    const sent = page.waitForRequest((request) => request.method() === 'POST');
    await page.keyboard.press('Enter');
    t.equal((await sent).postData(), 'token=abc&password=correct+horse+battery');
  });
});
