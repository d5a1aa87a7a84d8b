import { html, renderDocument } from '../html.ts';
import type { Site } from '../site.ts';

/** Facts for the console's script. */
export interface ConsoleFacts {
  /** Id of the web cookie's user. */
  readonly userId: string;
  readonly username: string;
  readonly hasPassword: boolean;
  /** Address of the service, for leaving the console. */
  readonly home: string;
  readonly path: string;
  /** `base_url`, the origin of the service. */
  readonly origin: string;
  /** The optional endpoints that Postern serves itself. */
  readonly served: readonly string[];
  readonly providers: readonly string[];
  readonly minPasswordLength: number;
}

/** Renders the console's document, which its script fills. */
export function consolePage(site: Site, facts: ConsoleFacts): string {
  const { userId, username, hasPassword, minPasswordLength } = facts;
  const { home, path, origin, served, providers } = facts;
  return renderDocument(html`
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>${`Console · ${site.title}`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <link rel="icon" href=${site.icon} />
        <link rel="stylesheet" href=${site.style} />
        <link rel="stylesheet" href=${site.console.style} />
        <script type="module" src=${site.console.script}></script>
      </head>
      <body class="console">
        <div
          id="console"
          data-user=${userId}
          data-username=${username}
          data-has-password=${hasPassword ? 'yes' : 'no'}
          data-min-password-length=${minPasswordLength}
          data-path=${path}
          data-area=${site.path}
          data-home=${home}
          data-title=${site.title}
          data-tenant=${site.tenant}
          data-origin=${origin}
          data-logo=${site.logo ?? ''}
          data-served=${served.join(' ')}
          data-providers=${providers.join(' ')}
        >
          <noscript><p>The console needs scripts. The API and the command line can do the same without.</p></noscript>
        </div>
      </body>
    </html>
  `);
}
