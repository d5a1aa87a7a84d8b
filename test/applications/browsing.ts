import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import type { Test } from 'tap';
import { administrator } from '../support/gateway/gateway.ts';
import { openBrowser } from '../support/pages/browser.ts';
import type { RunningApplication } from './application.ts';

/** A person in front of an application. */
export interface Browsing {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Response to what a script of the page asks for: status and body. */
  fetched(path: string): Promise<{ readonly status: number; readonly text: string }>;
  /** Signs out in another tab, as a person would, and waits until the gateway has ended the session. */
  signOut(): Promise<void>;
}

/** Opens a path of the application in Chromium, and signs in where that leads; null without Chromium, and a visible skip. */
export async function browse(
  t: Test,
  application: RunningApplication,
  path: string,
  options: BrowserContextOptions = {},
): Promise<Browsing | null> {
  const context = await openBrowser(t, options);
  if (context === null) return null;
  const { origin } = application;
  const page = await context.newPage();
  await page.goto(`${origin}${path}`);
  await page.fill('[name=username]', administrator.username);
  await page.fill('[name=password]', administrator.password);
  await page.click('main button[type=submit]');
  await page.waitForURL((url) => !url.pathname.startsWith('/postern/'));
  for (const { name, value } of await context.cookies()) if (name.endsWith('_web')) application.watch(value);
  return {
    context,
    page,
    fetched: (path) =>
      page.evaluate<{ status: number; text: string }>(
        `fetch(${JSON.stringify(path)}).then(async (r) => ({ status: r.status, text: await r.text() }))`,
      ),
    async signOut() {
      const tab = await context.newPage();
      await tab.goto(`${origin}/postern/`);
      await tab.click('text=Sign out');
      await tab.waitForURL(`${origin}/postern/signed-out`);
      await tab.close();
    },
  };
}
