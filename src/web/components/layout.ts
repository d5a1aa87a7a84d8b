import type { VNode } from 'preact';
import { type Content, html, renderDocument } from '../html.ts';
import type { ScriptName, Site } from '../site.ts';

/** Content of a page. */
export interface Page {
  /** Heading, and the beginning of the title. */
  readonly heading: string;
  /** True if the page is about a problem: its title begins with that word, because the title is read out first. */
  readonly wrong?: boolean;
  /** True for a page with more than a form: wider, if the window allows it. */
  readonly wide?: boolean;
  readonly scripts?: readonly ScriptName[];
  /** For the response to a form: path and query of the page to open on a reload or return. */
  readonly address?: string | null;
  readonly content: Content;
}

/** Renders a page as a whole document with the common layout. */
export function renderPage(site: Site, page: Page): string {
  const { heading, wrong = false, wide = false, address = null, content } = page;
  const scripts = [...(page.scripts ?? []), ...(address === null ? [] : (['address'] as const))];
  return renderDocument(html`
    <html lang="en">
      ${documentHead(
        site,
        `${wrong ? 'Problem: ' : ''}${heading}`,
        scripts.map((name) => html`<script type="module" src=${site.scripts[name]}></script>`),
      )}
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

/** The head of a document, with further styles and scripts. */
export function documentHead(site: Site, title: string, more: Content): VNode {
  return html`
    <head>
      <meta charset="utf-8" />
      <title>${`${title} · ${site.title}`}</title>
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="robots" content="noindex" />
      <link rel="icon" href=${site.icon} />
      <link rel="stylesheet" href=${site.style} />
      ${more}
    </head>
  `;
}

function brand({ logo, title }: Site): VNode {
  return html`
    <p class="brand">
      ${logo === null ? gateMark() : html`<img class="logo" src=${logo} alt="" />`}
      <span>${title}</span>
    </p>
  `;
}

/** The mark of a site without a logo, a gate in a wall, beside a text that names the site. */
function gateMark(): VNode {
  return html`
    <svg class="mark" viewBox="0 0 32 32" width="32" height="32" aria-hidden="true" focusable="false">
      <path class="mark-wall" d="M4 3h24a2 2 0 0 1 2 2v22a2 2 0 0 1-2 2h-5V17a7 7 0 0 0-14 0v12H4a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2z" />
      <path class="mark-gate" d="M16 13a4 4 0 0 1 4 4v12h-8V17a4 4 0 0 1 4-4z" />
    </svg>
  `;
}

/** The footer with the tenant, which tells sites with the same title apart, such as a test system; null if it is the title. */
function footer({ tenant, title }: Site): VNode | null {
  return tenant === title ? null : html`<footer><p>Tenant ${tenant}</p></footer>`;
}
