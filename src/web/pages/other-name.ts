import { linkButton } from '../components/button.ts';
import { renderPage } from '../components/layout.ts';
import { html } from '../html.ts';
import type { Site } from '../site.ts';
import { type Reference, reference } from './error.ts';

/** State of the page for a refused navigation under a name other than Postern's own. */
export interface OtherNamePage extends Reference {
  /** Postern's own origin, to which the page leads. */
  readonly origin: string;
  /** Path and query of the page to open there. */
  readonly target: string;
  /** The name that the browser used. */
  readonly sent: string;
  /** True if a form was sent. */
  readonly isForm: boolean;
}

/** Renders the page that leads people from another name of the service to its own. */
export function otherNamePage(site: Site, page: OtherNamePage): string {
  const { origin, target, sent, isForm } = page;
  return renderPage(site, {
    heading: `This service is at ${origin}`,
    wrong: true,
    scripts: ['copy'],
    content: [
      html`
        <p>
          ${
            isForm
              ? 'You opened it under another name, so nothing was done with what you sent. Go there, and send it again.'
              : 'You opened it under another name, which it does not accept.'
          }
        </p>
      `,
      html`<div class="actions">${linkButton(`${origin}${target}`, `Go to ${origin}`)}</div>`,
      reference(page, [
        ['Opened as', sent],
        ['base_url', origin],
      ]),
    ],
  });
}
