import { type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';
import type { Test } from 'tap';
import { requireOneOf } from './programs.ts';

const executablePath = '/usr/bin/chromium';

/** A headless Chromium that reaches 127.0.0.* and (*.)localhost alone; null where there is none, and the test is then skipped or fails. */
export async function openBrowser(
  t: Test,
  options: BrowserContextOptions = {},
  { keepsPages = false }: { readonly keepsPages?: boolean } = {},
): Promise<BrowserContext | null> {
  if (!requireOneOf(t, [executablePath], '--version')) return null;
  const rules = 'MAP localhost 127.0.0.1, MAP *.localhost 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.*';
  const args = ['--no-sandbox', `--host-resolver-rules=${rules}`];
  const ignoreDefaultArgs = keepsPages ? ['--disable-back-forward-cache'] : [];
  const browser = await chromium.launch({ executablePath, args, ignoreDefaultArgs });
  t.teardown(() => browser.close());
  return browser.newContext(options);
}
