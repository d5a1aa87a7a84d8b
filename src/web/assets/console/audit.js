/** The audit's events. */

import { useContext, useState } from 'preact/hooks';
import { useAddress } from './address.js';
import { EventDetails } from './audit-details.js';
import { Console } from './context.js';
import { actorWords, eventWords, spoken, wordsOf } from './events.js';
import { List } from './list.js';
import { useAction } from './loaded.js';
import { kinds, nameOf, useNames } from './names.js';
import { html, Name, Problem, Several, State } from './show.js';
import { Text } from './text.js';
import { Time } from './times.js';

const filters = [
  {
    name: 'event__eq',
    label: 'Event',
    choices: Object.entries(eventWords).sort(([, one], [, other]) => one.localeCompare(other)),
  },
  {
    name: 'outcome__eq',
    label: 'Outcome',
    choices: /** @type {[string, string][]} */ ([
      ['success', 'Success'],
      ['failure', 'Failure'],
    ]),
  },
  { name: 'actor__eq', label: 'By', type: /** @type {const} */ ('id') },
  { name: 'target__eq', label: 'To', type: /** @type {const} */ ('id') },
  { name: 'address__eq', label: 'Address', isRare: true },
  { name: 'request_id__eq', label: 'Request id', isRare: true },
  { name: 'time__gte', label: 'Since', type: /** @type {const} */ ('date'), isRare: true },
  { name: 'time__lt', label: 'Until', type: /** @type {const} */ ('date'), isRare: true },
];

/**
 * The changes of an event: fields, then added (+) and removed (−) scopes and sets.
 * @param {{ readonly changes: any, readonly names: ReadonlyMap<string, string> }} options
 */
function Changes({ changes, names }) {
  if (changes === null) return '';
  const { fields = [], scopes, scope_sets: sets } = changes;
  const setName = (/** @type {string} */ id) => html`the set <${Text} of=${nameOf(names, id)} />`;
  const scopeName = (/** @type {string} */ scope) => html`<${Name} name=${scope} />`;
  return html`
    <span class="names">
      ${fields.length > 0 && html`<span>${fields.map(spoken).join(', ')}</span>`}
      <${Signed} sign="+" values=${scopes?.added} show=${scopeName} />
      <${Signed} sign="−" values=${scopes?.removed} show=${scopeName} />
      <${Signed} sign="+" values=${sets?.added} show=${setName} />
      <${Signed} sign="−" values=${sets?.removed} show=${setName} />
    </span>
  `;
}

/** Maximum number of names shown of each kind, beside the number of further ones. */
const mostShown = 3;

/** @param {{ readonly sign: string, readonly values?: readonly string[], readonly show: (value: string) => unknown }} options */
function Signed({ sign, values = [], show }) {
  if (values.length === 0) return null;
  const items = values.map((value) => html`<span>${sign} ${show(value)}</span>`);
  return html`<${Several} items=${items} most=${mostShown} word=${sign} />`;
}

/** @param {ReadonlyMap<string, string>} names @returns {readonly import('./list.js').Column[]} */
const columnsWith = (names) => [
  {
    label: 'Time',
    sort: 'time',
    kind: 'tight',
    card: 'fact',
    cell: (event) => html`<${Time} at=${event.time} seconds=${true} />`,
  },
  {
    label: 'Event',
    kind: 'wide',
    card: 'title',
    cell: (event) => html`
      <span title=${event.event} class="title">${wordsOf(event.event)}</span>${event.count > 1 ? ` ${event.count.toLocaleString()} times` : ''}
      ${event.outcome !== 'success' && html` <${State} kind="bad">${event.outcome}<//>`}
    `,
  },
  {
    label: 'By',
    kind: 'name',
    card: 'fact',
    word: 'by',
    cell: ({ actor, event }) => html`<${Actor} actor=${actor} event=${event} names=${names} />`,
  },
  {
    label: 'To',
    kind: 'wide',
    card: 'fact',
    isEmpty: (event) => event.target === null,
    cell: (event) => html`<${Target} target=${event.target} names=${names} />`,
  },
  {
    label: 'What',
    kind: 'wide',
    card: 'line',
    isEmpty: (event) => event.changes === null && !event.reason,
    cell: (event) =>
      html`<${Changes} changes=${event.changes} names=${names} />${event.reason && html` <span><${Text} of=${spoken(event.reason)} /></span>`}`,
  },
  {
    label: 'Address',
    kind: 'name',
    card: 'none',
    cell: (event) =>
      html`<code class="quiet" title=${event.user_agent ?? ''}><${Text} of=${event.address ?? ''} /></code>`,
  },
];

/** @param {{ readonly actor: any, readonly event: string, readonly names: ReadonlyMap<string, string> }} options */
function Actor({ actor, event, names }) {
  const { root } = useContext(Console);
  const kind = actorWords(actor.kind, event);
  if (!actor.user) return html`<span class="quiet">${kind}</span>`;
  return html`<a href=${`${root}/audit?actor__eq=${actor.user}`} title=${actor.user}><${Text} of=${nameOf(names, actor.user)} /></a>${actor.kind !== 'session' && html` <span class="quiet">${kind}</span>`}`;
}

/** @param {{ readonly target: any, readonly names: ReadonlyMap<string, string> }} options */
function Target({ target, names }) {
  const { root } = useContext(Console);
  if (target === null) return '';
  const words = html`${kinds[target.type]?.what ?? spoken(target.type)} <${Text} of=${target.label ?? nameOf(names, target.id)} />`;
  return html`<a href=${`${root}/audit?target__eq=${encodeURIComponent(target.id)}`} title=${target.id}>${words}</a>`;
}

export function Audit() {
  const { api } = useContext(Console);
  const address = useAddress();
  const [done, setDone] = useState(0);
  const [names, loadNames] = useNames();
  const download = useAction(async () => {
    const events = await every(api, address.searchParams, setDone);
    const lines = events.map((event) => `${JSON.stringify(event)}\n`);
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob(lines, { type: 'application/jsonl' }));
    link.download = `audit-${new Date().toISOString().slice(0, 10)}.jsonl`;
    link.click();
    URL.revokeObjectURL(link.href);
  });
  return html`
    <div class="heading">
      <h1>Audit</h1>
      <button type="button" class="button button-secondary" disabled=${download.isRunning} onClick=${() => download.run()}>
        ${download.isRunning ? `${done.toLocaleString()} events…` : 'Export as JSON lines'}
      </button>
    </div>
    ${download.error !== null && html`<${Problem} error=${download.error} />`}
    <${List}
      path="/admin/audit/"
      what=${['event', 'events']}
      columns=${columnsWith(names)}
      prepare=${loadNames}
      filters=${filters}
      sort=${{ by: 'time', order: 'desc' }}
      details=${(/** @type {any} */ event) => html`<${EventDetails} event=${event} />`}
      empty=${html`<p>Nothing has been recorded yet.</p>`}
    />
  `;
}

/**
 * Loads all events that match the filters of the address, page by page, the newest first.
 * @param {import('./api.js').Api} api
 * @param {URLSearchParams} parameters
 * @param {(count: number) => void} onProgress
 */
async function every(api, parameters, onProgress) {
  const query = new URLSearchParams({ size: '100' });
  for (const { name } of filters) {
    const value = parameters.get(name);
    if (value) query.set(name, value);
  }
  const events = [];
  for (;;) {
    const { value: page } = await api.get(`/admin/audit/?${query}`);
    events.push(...page.items);
    onProgress(events.length);
    if (page.next_page === null || page.items.length === 0) return events;
    query.set('cursor', page.next_page);
  }
}
