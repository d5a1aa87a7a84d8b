import type { VNode } from 'preact';
import { html } from '../html.ts';

/** What an administrator needs to find a request: short lines to read out, and an id to copy. */
export function reference(options: {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly requestId: string;
}): VNode {
  const { status, code, detail, requestId } = options;
  return html`
    <section class="reference" aria-labelledby="reference">
      <h2 id="reference">For your administrator</h2>
      <dl>
        <div><dt>Response</dt><dd>${`${status} ${detail}`}</dd></div>
        <div><dt>Code</dt><dd><code>${code}</code></dd></div>
        <div>
          <dt>Request id</dt>
          <dd class="copyable">
            <code id="request-id">${requestId}</code>
            <button type="button" class="copy" data-copies="request-id" hidden>
              <span data-word>Copy</span><span class="unseen"> request id</span>
            </button>
          </dd>
        </div>
      </dl>
      <p class="unseen" role="status" data-copied></p>
    </section>
  `;
}
