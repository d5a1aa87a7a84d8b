import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';
import type { Test } from 'tap';
import { requireOneOf } from '../programs.ts';
import { makeTemporaryFolder } from '../temporary-folder.ts';

const executablePath = '/usr/bin/chromium';

/**
 * A headless Chromium that reaches 127.0.0.* and (*.)localhost alone; null where there is none, and the test is then skipped
 * or fails. `fontSize`: of its settings, in pixels; `resolver`: rules by which it finds hosts instead.
 */
export async function openBrowser(
  t: Test,
  options: BrowserContextOptions = {},
  {
    keepsPages = false,
    fontSize = 16,
    resolver = onThisMachine,
  }: { readonly keepsPages?: boolean; readonly fontSize?: number; readonly resolver?: string } = {},
): Promise<BrowserContext | null> {
  if (!requireOneOf(t, [executablePath], '--version')) return null;
  const { args, ignoreDefaultArgs } = launchOptions(keepsPages, fontSize, resolver);
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
  const { args } = launchOptions(false, 16, onThisMachine);
  const context = await chromium.launchPersistentContext(profile, { executablePath, args, ...options });
  t.teardown(() => context.close());
  return context;
}

/** Rules by which Chromium finds hosts: those of this machine alone. */
const onThisMachine =
  'MAP localhost 127.0.0.1, MAP *.localhost 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.*';

function launchOptions(keepsPages: boolean, fontSize: number, rules: string) {
  const settings = `--blink-settings=defaultFontSize=${fontSize}`;
  const args = ['--no-sandbox', `--host-resolver-rules=${rules}`, settings];
  return { args, ignoreDefaultArgs: keepsPages ? ['--disable-back-forward-cache'] : [] };
}
