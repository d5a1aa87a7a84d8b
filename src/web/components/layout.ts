import type { VNode } from 'preact';
import { type Content, html, renderDocument } from '../html.ts';
import type { ScriptAddresses, Site } from '../site.ts';
import { gateMark } from './icons.ts';

/** One page. */
export interface Page {
  /** Its heading, and the beginning of its title. */
  readonly heading: string;
  /** Something went wrong: the title says so first, because it is read out first. */
  readonly wrong?: boolean;
  /** For more than a form: wider, where the window allows it. */
  readonly wide?: boolean;
  readonly scripts?: readonly (keyof ScriptAddresses)[];
  /**
   * For a page that is the response to a form: path and query of the page to open when it is loaded again, or come back to.
   */
  readonly address?: string | null;
  readonly content: Content;
}

/** A whole document: what all pages have around what is their own. */
export function renderPage(site: Site, page: Page): string {
  const { heading, wrong = false, wide = false, address = null, content } = page;
  const scripts = [...(page.scripts ?? []), ...(address === null ? [] : (['address'] as const))];
  return renderDocument(html`
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>${`${wrong ? 'Problem: ' : ''}${heading} · ${site.title}`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <link rel="icon" href=${site.icon} />
        <link rel="stylesheet" href=${site.style} />
        ${scripts.map((name) => html`<script type="module" src=${site.scripts[name]}></script>`)}
      </head>
      <body class=${wide && 'wide'}>
        <header>${brand(site)}</header>
        <main data-address=${address}>
          <h1>${heading}</h1>
          ${content}
        </main>
        ${footer(site)}
      </body>
    </html>
  `);
}

function brand({ logo, title }: Site): VNode {
  return html`
    <p class="brand">
      ${logo === null ? gateMark() : html`<img class="logo" src=${logo} alt="" />`}
      <span>${title}</span>
    </p>
  `;
}

/** The tenant tells two places with one title apart, such as a test system from the real one. */
function footer({ tenant, title }: Site): VNode | null {
  return tenant === title ? null : html`<footer><p>${tenant}</p></footer>`;
}
