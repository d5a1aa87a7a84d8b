import { html, renderDocument } from '../html.ts';
import type { Site } from '../site.ts';

/** What the console's script is told. */
export interface ConsoleFacts {
  /** Id of the user whom the page was given to: the web cookie's. */
  readonly userId: string;
  readonly username: string;
  /** True if the user can sign in with a password. */
  readonly hasPassword: boolean;
  /** Where people leave the console for: an address of the service. */
  readonly home: string;
  /** `<path>/console`. */
  readonly path: string;
  /** `base_url`: where the service is called. */
  readonly origin: string;
  /** The optional endpoints that Postern serves itself. */
  readonly served: readonly string[];
  /** Names of the identity providers. */
  readonly providers: readonly string[];
  /** In code points. */
  readonly minPasswordLength: number;
}

/** The document of the console, which its script fills. */
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
