import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';
import type { Test } from 'tap';
import { requireOneOf } from '../programs.ts';
import { makeTemporaryFolder } from '../temporary-folder.ts';

const executablePath = '/usr/bin/chromium';

/**
 * A headless Chromium that reaches 127.0.0.* and (*.)localhost alone; null where there is none, and the test is then skipped
 * or fails. `fontSize`: of its settings, in pixels.
 */
export async function openBrowser(
  t: Test,
  options: BrowserContextOptions = {},
  { keepsPages = false, fontSize = 16 }: { readonly keepsPages?: boolean; readonly fontSize?: number } = {},
): Promise<BrowserContext | null> {
  if (!requireOneOf(t, [executablePath], '--version')) return null;
  const { args, ignoreDefaultArgs } = launchOptions(keepsPages, fontSize);
  const browser = await chromium.launch({ executablePath, args, ignoreDefaultArgs });
  t.teardown(() => browser.close());
  return browser.newContext(options);
}

/** As {@link openBrowser}, but its user has blocked all cookies in the settings. */
export async function openBrowserWithoutCookies(
  t: Test,
  options: BrowserContextOptions = {},
): Promise<BrowserContext | null> {
  if (!requireOneOf(t, [executablePath], '--version')) return null;
  const profile = makeTemporaryFolder('postern-browser-');
  t.teardown(() => rm(profile, { recursive: true, force: true, maxRetries: 3 }));
  await mkdir(join(profile, 'Default'));
  const blocked = { profile: { default_content_setting_values: { cookies: 2 } } };
  await writeFile(join(profile, 'Default', 'Preferences'), JSON.stringify(blocked));
  const { args } = launchOptions(false, 16);
  const context = await chromium.launchPersistentContext(profile, { executablePath, args, ...options });
  t.teardown(() => context.close());
  return context;
}

function launchOptions(keepsPages: boolean, fontSize: number) {
  const rules = 'MAP localhost 127.0.0.1, MAP *.localhost 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.*';
  const settings = `--blink-settings=defaultFontSize=${fontSize}`;
  const args = ['--no-sandbox', `--host-resolver-rules=${rules}`, settings];
  return { args, ignoreDefaultArgs: keepsPages ? ['--disable-back-forward-cache'] : [] };
}
