import type { BrowserContext, Page } from 'playwright-core';

/** What must not happen on a page that shows text from outside. */
export interface PageWatch {
  /** Everything since the last call that only a text taken for more could have caused; empty: nothing. */
  taken(): Promise<string[]>;
}

/**
 * Watches a page: dialogs, scripts that ran (`window.__xss`), requests to another origin than `origin`, and errors that the
 * console reports, violations of the policy among them.
 */
export function watchPage(page: Page, origin: string): PageWatch {
  const found: string[] = [];
  page.on('dialog', async (dialog) => {
    found.push(`dialog ${dialog.message()}`);
    await dialog.dismiss();
  });
  page.on('pageerror', (error) => found.push(`error ${error.message}`));
  page.on('popup', (popup) => found.push(`popup ${popup.url()}`));
  page.on('download', (download) => found.push(`download ${download.url()}`));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && url.protocol !== 'data:') found.push(`request ${url.href.slice(0, 200)}`);
  });
  page.on('console', (message) => {
    // What is no error is advice for developers. A page with a status of an error says so itself.
    if (
      message.type() === 'error' &&
      !/^Failed to load resource: the server responded with a status of 4/.test(message.text())
    )
      found.push(`console ${message.text()}`);
  });
  return {
    async taken() {
      if (await page.evaluate<boolean>('window.__xss !== undefined')) found.push('a script ran');
      return found.splice(0);
    },
  };
}

/** Elements of the page that is shown, each with the names of its attributes, in order. */
export const elementsOf = (page: Page): Promise<string[]> => page.evaluate<string[]>(elements('document'));

/** The same of documents that aren't shown, as the browser reads them. */
export const elementsIn = (page: Page, documents: readonly string[]): Promise<string[][]> =>
  page.evaluate<string[][]>(
    `${JSON.stringify(documents)}.map((text) => ${elements("new DOMParser().parseFromString(text, 'text/html')")})`,
  );

const elements = (root: string) =>
  `[...${root}.querySelectorAll('*')].map((one) => [one.localName, ...one.getAttributeNames()].join(' '))`;

/** One page of a browser, watched. */
export async function openWatched(
  context: BrowserContext,
  origin: string,
): Promise<{ readonly page: Page; readonly watch: PageWatch }> {
  const page = await context.newPage();
  return { page, watch: watchPage(page, origin) };
}
