import type { VNode } from 'preact';
import { html } from '../html.ts';

/** Facts by which an administrator finds a request: short lines to read out, and an id to copy. */
export function reference(options: {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly requestId: string;
}): VNode {
  const { status, code, detail, requestId } = options;
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
        <div>
          <dt>Request id</dt>
          <dd><code id="request-id">${requestId}</code></dd>
        </div>
      </dl>
      <p class="unseen" role="status" data-copied></p>
    </section>
  `;
}
