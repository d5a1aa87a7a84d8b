import type { VNode } from 'preact';
import { type Content, html, renderDocument } from '../html.ts';
import type { ScriptAddresses, Site } from '../site.ts';
import { gateMark } from './icons.ts';

/** Content of a page. */
export interface Page {
  /** Heading, and the beginning of the title. */
  readonly heading: string;
  /** True for a problem, which begins the title, because that is read out first. */
  readonly wrong?: boolean;
  /** True for a page with more than a form: wider, if the window allows it. */
  readonly wide?: boolean;
  readonly scripts?: readonly (keyof ScriptAddresses)[];
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

/** The footer with the tenant, which tells sites of one title apart, such as a test system. */
function footer({ tenant, title }: Site): VNode | null {
  return tenant === title ? null : html`<footer><p>${tenant}</p></footer>`;
}
