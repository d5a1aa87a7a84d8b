/** The record of who did what. */

import { useContext, useEffect, useState } from 'preact/hooks';
import { useAddress } from './address.js';
import { Console } from './context.js';
import { List } from './list.js';
import { useAction } from './loaded.js';
import { html, Names, Problem, State, Time } from './show.js';

const filters = [
  { name: 'event__eq', label: 'Event' },
  {
    name: 'outcome__eq',
    label: 'Outcome',
    choices: /** @type {[string, string][]} */ ([
      ['success', 'Success'],
      ['failure', 'Failure'],
    ]),
  },
  { name: 'actor__eq', label: 'By (id)' },
  { name: 'target__eq', label: 'To (id)' },
  { name: 'address__eq', label: 'Address' },
  { name: 'request_id__eq', label: 'Request id' },
  { name: 'time__gte', label: 'From', type: /** @type {const} */ ('date') },
  { name: 'time__lt', label: 'Until', type: /** @type {const} */ ('date') },
];

/** @param {any} changes */
function changed(changes) {
  if (changes === null) return '';
  const { fields = [], scopes, scope_sets: sets } = changes;
  return html`
    ${fields.length > 0 && html`<${Names} names=${fields} most=${6} />`}
    ${[scopes, sets].map(
      (change) =>
        change && [
          change.added.length > 0 && html`<span> added <${Names} names=${change.added} most=${4} /></span>`,
          change.removed.length > 0 &&
            html`<span> removed <${Names} names=${change.removed} most=${4} /></span>`,
        ],
    )}
  `;
}

/** @param {ReadonlyMap<string, string>} names @returns {readonly import('./list.js').Column[]} */
const columnsWith = (names) => [
  { label: 'Time', sort: 'time', cell: (event) => html`<${Time} at=${event.time} />` },
  {
    label: 'Event',
    cell: (event) => html`<code>${event.event}</code>${event.count > 1 ? ` ${event.count} times` : ''}`,
  },
  {
    label: 'Outcome',
    cell: (event) =>
      html`<${State} kind=${event.outcome === 'success' ? 'good' : 'bad'}>${event.outcome}<//>`,
  },
  { label: 'By', cell: (event) => html`<${Actor} actor=${event.actor} names=${names} />` },
  { label: 'To', cell: (event) => html`<${Target} target=${event.target} names=${names} />` },
  {
    label: 'What',
    wide: true,
    cell: (event) => html`${changed(event.changes)}${event.reason && html` <code>${event.reason}</code>`}`,
  },
  {
    label: 'From',
    cell: (event) => html`<code class="quiet" title=${event.user_agent ?? ''}>${event.address}</code>`,
  },
];

/** @param {{ readonly actor: any, readonly names: ReadonlyMap<string, string> }} options */
function Actor({ actor, names }) {
  const { root } = useContext(Console);
  const kind = actor.kind.replace('_', ' ');
  if (!actor.user) return html`<span class="quiet">${kind}</span>`;
  return html`<a href=${`${root}/audit?actor__eq=${actor.user}`} title=${actor.user}>${names.get(actor.user) ?? `…${actor.user.slice(-6)}`}</a>${actor.kind !== 'session' && html` <span class="quiet">${kind}</span>`}`;
}

/** @param {{ readonly target: any, readonly names: ReadonlyMap<string, string> }} options */
function Target({ target, names }) {
  const { root } = useContext(Console);
  if (target === null) return '';
  const words = `${target.type.replace('_', ' ')} ${names.get(target.id) ?? `…${target.id.slice(-6)}`}`;
  return html`<a href=${`${root}/audit?target__eq=${encodeURIComponent(target.id)}`} title=${target.id}>${words}</a>`;
}

export function Audit() {
  const { api } = useContext(Console);
  const address = useAddress();
  const [done, setDone] = useState(0);
  const [shown, setShown] = useState(/** @type {readonly any[]} */ ([]));
  const names = useNames(shown);
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
      path="/api/admin/audit/"
      what=${['event', 'events']}
      columns=${columnsWith(names)}
      onLoaded=${(/** @type {any} */ page) => setShown(page.items)}
      filters=${filters}
      sort=${{ by: 'time', order: 'desc' }}
      empty=${html`<p>Nothing has been recorded yet.</p>`}
    />
  `;
}

/** At most so many are looked up for one page: others show the end of their id. */
const mostLookups = 20;

/**
 * Names of the users in these events, where they may be seen; they come after the rows.
 * @param {readonly any[]} events
 * @returns {ReadonlyMap<string, string>}
 */
function useNames(events) {
  const { api, served, may } = useContext(Console);
  const [names, setNames] = useState(/** @type {ReadonlyMap<string, string>} */ (new Map()));
  useEffect(() => {
    if (!served.has('users') || !may('users:read')) return;
    const ids = events.flatMap(({ actor, target }) => [
      actor.user,
      target?.type === 'user' ? target.id : null,
    ]);
    const unknown = [...new Set(ids)].filter((id) => id && !names.has(id)).slice(0, mostLookups);
    for (const id of unknown)
      void nameOf(api, id).then((name) => setNames((before) => new Map([...before, [id, name]])));
  }, [events]);
  return names;
}

/** @param {import('./api.js').Api} api @param {string} id @returns {Promise<string>} */
function nameOf(api, id) {
  return api.get(`/api/admin/users/${id}`).then(
    ({ value }) => value.username,
    () => `…${id.slice(-6)}`,
  );
}

/**
 * Every event that the filters of the address match, page by page, the newest first.
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
    const { value: page } = await api.get(`/api/admin/audit/?${query}`);
    events.push(...page.items);
    onProgress(events.length);
    if (page.next_page === null || page.items.length === 0) return events;
    query.set('cursor', page.next_page);
  }
}
