import type { Page } from 'playwright-core';
import t from 'tap';
import { openBrowser } from '../support/pages/browser.ts';
import { settled, startConsole } from '../support/pages/console.ts';

t.setTimeout(600_000);

/** What has the focus: its text, or the name of its field. */
const focused = (page: Page) =>
  page.evaluate<string>(`(() => {
    const { name, value, type, textContent } = document.activeElement;
    return type === 'checkbox' ? value : name || textContent.trim().replace(/\\s+/g, ' ');
  })()`);

/** Presses the tab key until that has the focus; throws if it never has. */
async function tabTo(page: Page, wanted: string): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press('Tab');
    if ((await focused(page)) === wanted) return;
  }
  throw new Error(`the keyboard never reaches ${wanted}`);
}

t.test('a key is made and deleted by keyboard alone', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const { open } = await startConsole(t);
  const page = await open(context, 'administrator', 'api-keys');
  const press = (key: string) => page.keyboard.press(key);

  await press('Tab');
  t.equal(await focused(page), 'Skip to content');
  await press('Enter');
  t.equal(await page.evaluate('document.activeElement.id'), 'content', 'leads there');
  await press('Tab');
  t.equal(await focused(page), 'New key', 'past the menu');
  await press('Enter');
  await page.waitForSelector('dialog[open]');
  t.equal(await focused(page), 'label', 'the window has the focus');
  await press('Escape');
  await page.waitForSelector('dialog', { state: 'detached' });
  t.equal(await focused(page), 'New key', 'and gives it back');
  await press('Enter');
  await page.waitForSelector('dialog[open]');
  await page.keyboard.type('by keyboard');
  await page.waitForSelector('dialog input[value="store:read"]');
  await tabTo(page, 'store:read');
  await press('Space');
  await tabTo(page, 'Create key');
  await press('Enter');
  await page.waitForSelector('text=Your new key');
  await tabTo(page, 'I have copied it');
  await press('Enter');
  await page.waitForSelector('td >> text=by keyboard');
  await tabTo(page, 'Delete by keyboard');
  await press('Enter');
  await page.waitForSelector('dialog[open]');
  t.equal(await focused(page), 'Cancel', 'what ends something is not what Enter does first');
  await tabTo(page, 'Delete key');
  await press('Enter');
  await page.waitForSelector('text=There are no API keys yet.');
  t.equal(
    await page.evaluate('document.activeElement.className'),
    'empty',
    'the keyboard stays where the key was',
  );
});

t.test('the skip link leads to the content of every part, as often as it is followed', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const { open, origin } = await startConsole(t);
  const page = await open(context, 'administrator', 'api-keys');
  const asked: string[] = [];
  for (const part of ['users', 'scope-sets', 'audit?outcome__eq=success']) {
    await page.goto(`${origin}/postern/console/${part}`);
    await settled(page);
    page.on(
      'request',
      (request) => new URL(request.url()).pathname.startsWith('/api/') && asked.push(request.url()),
    );
    for (const round of ['first', 'second']) {
      await page.focus('.skip');
      await page.keyboard.press('Enter');
      t.equal(await page.evaluate('document.activeElement.id'), 'content', `${part}, the ${round} time`);
    }
    t.equal(page.url(), `${origin}/postern/console/${part}#content`);
    await page.goBack();
    t.equal(page.url(), `${origin}/postern/console/${part}`, 'one step back is where it was followed');
    t.strictSame(asked.splice(0), [], 'nothing is read again for it');
    page.removeAllListeners('request');
  }
});
