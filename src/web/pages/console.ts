import { documentHead } from '../components/layout.ts';
import { html, renderDocument } from '../html.ts';
import type { Site } from '../site.ts';

/** Renders the console's document, which its script fills. */
export function consolePage(
  site: Site,
  facts: {
    /** Id of the web cookie's user. */
    readonly userId: string;
    readonly username: string;
    readonly hasPassword: boolean;
    /** Address of the service, for leaving the console. */
    readonly home: string;
    readonly path: string;
    /** Path of the API. */
    readonly apiPath: string;
    /** `base_url`, the origin of the service. */
    readonly origin: string;
    /** The optional endpoints that Postern serves itself. */
    readonly served: readonly string[];
    /** Titles of the identity providers, by name. */
    readonly providers: Readonly<Record<string, string>>;
    readonly minPasswordLength: number;
    /** Maximum lifetime of an API key, ms; null: no bound. */
    readonly maxKeyLifetimeMs: number | null;
  },
): string {
  return renderDocument(html`
    <html lang="en">
      ${documentHead(site, 'Console', [
        html`<link rel="stylesheet" href=${site.console.style} />`,
        html`<script type="module" src=${site.console.script}></script>`,
        // All in one round, where the browser would find them import by import.
        site.console.imports.map((address) => html`<link rel="modulepreload" href=${address} />`),
      ])}
      <body class="console">
        <div
          id="console"
          data-user=${facts.userId}
          data-username=${facts.username}
          data-has-password=${facts.hasPassword ? 'yes' : 'no'}
          data-min-password-length=${facts.minPasswordLength}
          data-max-key-lifetime=${facts.maxKeyLifetimeMs ?? ''}
          data-path=${facts.path}
          data-api=${facts.apiPath}
          data-area=${site.path}
          data-home=${facts.home}
          data-title=${site.title}
          data-tenant=${site.tenant}
          data-origin=${facts.origin}
          data-logo=${site.logo ?? ''}
          data-served=${facts.served.join(' ')}
          data-providers=${JSON.stringify(facts.providers)}
        >
          <noscript><p>The console needs scripts. The API and the command line can do the same without.</p></noscript>
        </div>
      </body>
    </html>
  `);
}
