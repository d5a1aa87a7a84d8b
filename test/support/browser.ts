import { type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';
import type { Test } from 'tap';
import { requireOneOf } from './programs.ts';

const executablePath = '/usr/bin/chromium';

/** A headless Chromium that reaches 127.0.0.* alone; null where there is none, and the test is then skipped or fails. */
export async function openBrowser(
  t: Test,
  options: BrowserContextOptions = {},
): Promise<BrowserContext | null> {
  if (!requireOneOf(t, [executablePath], '--version')) return null;
  const args = ['--no-sandbox', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.*'];
  const browser = await chromium.launch({ executablePath, args });
  t.teardown(() => browser.close());
  return browser.newContext(options);
}
