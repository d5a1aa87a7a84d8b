import type { VNode } from 'preact';
import { type Emphasis, linkButton } from '../components/button.ts';
import { renderPage } from '../components/layout.ts';
import { returnToQuery } from '../host-destination.ts';
import { html } from '../html.ts';
import type { Site } from '../site.ts';
import { type ErrorWords, errorWords, type NextStep } from './error-words.ts';
import { waitText } from './problem.ts';

/** Facts about a refusal for administrators. */
export interface Reference {
  readonly status: number;
  /** Code of `errors.ts`, or `validation_error`; for any other, the words of the status are used. */
  readonly code: string;
  readonly detail: string;
  readonly requestId: string;
}

/** State of the page for a refused navigation. */
export interface ErrorPage extends Reference {
  /** Words for this refusal; default: those of its code. */
  readonly words?: ErrorWords | undefined;
  readonly missingScopes?: readonly string[] | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** Path and query to return to after signing in, such as those of the form's page; null: none. */
  readonly returnTo: string | null;
  /** True if the request can be repeated by loading the page again: it was a GET or HEAD. */
  readonly isRepeatable: boolean;
  /** Start page of the site: a path of this host, or an address at the host to use instead. */
  readonly home: string;
  /** True if the refused page is the start page itself. Default: false. */
  readonly isHome?: boolean;
}

/** Renders a refusal: its cause, the next steps, and facts for the administrator. */
export function errorPage(site: Site, error: ErrorPage): string {
  const { code, status, missingScopes = [], retryAfterSeconds, isRepeatable } = error;
  const { heading, text: ofPage, textOfForm = ofPage, steps } = error.words ?? errorWords(code, status);
  const text = isRepeatable ? ofPage : textOfForm;
  return renderPage(site, {
    heading,
    wrong: true,
    scripts: ['copy'],
    content: [
      html`<p>${text}${retryAfterSeconds !== undefined && ` Try again ${waitText(retryAfterSeconds)}.`}</p>`,
      missingScopes.length > 0 && scopesToAskFor(missingScopes),
      actions(site, error, steps),
      reference(error),
    ],
  });
}

function scopesToAskFor(scopes: readonly string[]): VNode {
  return html`
    <div class="ask">
      <p>Ask your administrator for ${scopes.length === 1 ? 'this scope' : 'these scopes'}:</p>
      <ul class="scopes">${scopes.map((scope) => html`<li><code>${scope}</code></li>`)}</ul>
    </div>
  `;
}

function actions(
  { signIn, path }: Site,
  { code, returnTo, isRepeatable, home, isHome = false }: ErrorPage,
  steps: readonly NextStep[],
): VNode | null {
  const elsewhere: readonly NextStep[] = code === 'insufficient_scope' ? ['sign_out'] : [];
  const possible = steps
    .filter((step) => step !== 'retry' || isRepeatable)
    .flatMap((step) => (step === 'home' && isHome ? elsewhere : [step]));
  if (possible.length === 0) return null;
  const query = returnToQuery(returnTo);
  const link = (step: NextStep, emphasis: Emphasis) => {
    if (step === 'sign_in') return linkButton(signIn + query, 'Sign in', emphasis);
    if (step === 'sign_out') return linkButton(`${path}/sign-out`, 'Sign out', emphasis);
    return step === 'retry'
      ? linkButton('', 'Try again', emphasis)
      : linkButton(home, 'Go to the start page', emphasis);
  };
  return html`
    <div class="actions">
      ${possible.map((step, index) => link(step, index === 0 ? 'primary' : 'secondary'))}
    </div>
  `;
}

/**
 * Facts by which an administrator finds a request: short lines to read out, and an id to copy. `more`: further facts, each a name
 * and a value.
 */
export function reference(
  { status, code, detail, requestId }: Reference,
  more: readonly (readonly [name: string, value: string])[] = [],
): VNode {
  return html`
    <section class="reference" aria-labelledby="reference">
      <div class="reference-head">
        <h2 id="reference">For your administrator</h2>
        <button type="button" class="copy" data-copies="request-id" hidden>
          <span data-word>Copy</span>${' request id'}
        </button>
      </div>
      <dl>
        <div><dt>Response</dt><dd>${`${status} ${detail}`}</dd></div>
        <div><dt>Code</dt><dd><code>${code}</code></dd></div>
        ${more.map(([name, value]) => html`<div><dt>${name}</dt><dd><code>${value}</code></dd></div>`)}
        <div>
          <dt>Request id</dt>
          <dd><code id="request-id">${requestId}</code></dd>
        </div>
      </dl>
      <p class="unseen" role="status" data-copied></p>
    </section>
  `;
}
