/** A list of the API as a table: filters, order and page are parameters of the address, named as the API names them. */

import { useContext, useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useAddress, withParameters } from './address.js';
import { Console } from './context.js';
import { Filters } from './filters.js';
import { useLoaded } from './loaded.js';
import { html, Problem } from './show.js';

/**
 * A column. On a phone, a row is a card: `card` is the place of the cell on it (`title` and `action`: the first line; `fact`:
 * beside others, with `word` before it; `line`: a line of its own; `none`: left out), and empty cells are left out.
 * @typedef {{
 *   readonly label: string,
 *   readonly sort?: string,
 *   readonly kind?: 'wide' | 'name' | 'tight' | 'time' | 'action',
 *   readonly card?: 'title' | 'fact' | 'line' | 'action' | 'none',
 *   readonly word?: string,
 *   readonly isEmpty?: (item: any) => boolean,
 *   readonly cell: (item: any) => unknown,
 * }} Column
 * @typedef {import('./filters.js').Filter} Filter
 * @typedef {{
 *   readonly path: string,
 *   readonly what: readonly [one: string, many: string],
 *   readonly columns: readonly Column[],
 *   readonly filters: readonly Filter[],
 *   readonly sort: { readonly by: string, readonly order: 'asc' | 'desc' },
 *   readonly empty: unknown,
 *   readonly version?: unknown,
 *   readonly isReady?: boolean,
 *   readonly prepare?: (items: readonly any[]) => Promise<void>,
 *   readonly onLoaded?: (page: any) => void,
 *   readonly details?: (item: any) => unknown,
 * }} ListOptions
 */

const ownParameters = ['cursor', 'sort_by', 'sort_order', 'size'];

/**
 * A list: `empty` is all that is shown where nothing was ever made; `details` is what a row opens to. Nothing is shown until the
 * rows are there with all they need, so that no column jumps: `isReady` is false, and `prepare` pending, until it is.
 * @param {ListOptions} options
 */
export function List(options) {
  const {
    path,
    what,
    columns,
    filters,
    sort,
    empty,
    version,
    isReady = true,
    prepare,
    onLoaded,
    details,
  } = options;
  const { api } = useContext(Console);
  const address = useAddress();
  const names = useRef(/** @type {Map<string, string>} */ (new Map()));
  const asked = queryOf(address, filters).toString();
  const {
    value: page,
    error,
    isLoading,
    reload,
  } = useLoaded(async () => {
    const { value } = await api.get(`${path}?${asked}`);
    await prepare?.(value.items);
    return value;
  }, [path, asked, version]);
  useEffect(() => {
    if (page !== null) onLoaded?.(page);
  }, [page]);
  const table = useRef(/** @type {HTMLElement | null} */ (null));
  const hadFocus = table.current?.contains(document.activeElement);
  useLayoutEffect(() => {
    // The focused element is gone with its row.
    if (hadFocus && document.activeElement === document.body) table.current?.focus();
  }, [page]);
  const isShown = useRef(false);
  isShown.current ||= isReady && (page !== null || error !== null);
  const isNarrowed = ['cursor', ...filters.map(({ name }) => name)].some((name) =>
    address.searchParams.has(name),
  );
  const isEmpty = page !== null && page.items.length === 0 && error === null;
  const order = {
    by: address.searchParams.get('sort_by') ?? sort.by,
    order: address.searchParams.get('sort_order') ?? sort.order,
  };

  if (!isShown.current) return html`<p role="status" class="quiet">Loading…</p>`;
  if (isEmpty && !isNarrowed) return html`<div class="empty" ref=${table} tabindex="-1">${empty}</div>`;
  return html`
    ${filters.length > 0 && html`<${Filters} key=${filterKey(address, filters)} filters=${filters} address=${address} path=${path} names=${names.current} />`}
    ${
      error !== null
        ? html`<${Problem}
              error=${error}
              again=${error.code === 'invalid_cursor' ? undefined : reload}
              labels=${Object.fromEntries(filters.map(({ name, label }) => [name, label]))}
            />
            ${error.code === 'invalid_cursor' && html`<p><a href=${withParameters(address, { cursor: null })}>Go to the first page</a></p>`}`
        : html`
            <div class="table-frame" ref=${table} tabindex="-1" aria-busy=${isLoading}>
              <table class="list">
                <thead>
                  <tr>
                    ${details && html`<th scope="col" class="opener-cell"><span class="unseen">All fields</span></th>`}
                    ${columns.map((column) => html`<${Heading} column=${column} order=${order} address=${address} />`)}
                  </tr>
                </thead>
                <tbody>
                  ${page === null && html`<${Waiting} columns=${columns.length} />`}
                  ${page?.items.map((/** @type {any} */ item) => html`<${Row} key=${item.id} item=${item} columns=${columns} details=${details} />`)}
                </tbody>
              </table>
            </div>
            ${
              isEmpty &&
              html`<div class="empty"><p>Nothing here matches.</p><p><a href=${address.pathname}>Show all ${what[1]}</a></p></div>`
            }
            ${page !== null && html`<${Pages} page=${page} what=${what} address=${address} />`}
          `
    }
  `;
}

/**
 * @param {{
 *   readonly item: any,
 *   readonly columns: readonly Column[],
 *   readonly details: ListOptions['details'],
 * }} options
 */
function Row({ item, columns, details }) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const opener = html`
    <td class="opener-cell card-action">
      <button type="button" class="opener" aria-expanded=${isOpen} aria-controls=${isOpen ? id : null} onClick=${() => setOpen(!isOpen)}>
        <span aria-hidden="true">${isOpen ? '▾' : '▸'}</span><span class="unseen">All fields</span>
      </button>
    </td>
  `;
  return html`
    <tr>
      ${details && opener}
      ${columns.map(
        (column) =>
          html`<td class=${classesOf(column, item)} data-word=${column.word ?? null}><div>${column.cell(item)}</div></td>`,
      )}
    </tr>
    ${isOpen && html`<tr class="opened" id=${id}><td colspan=${columns.length + 1}>${details?.(item)}</td></tr>`}
  `;
}

/** @param {Column} column @param {any} item */
function classesOf({ kind, card = 'line', isEmpty }, item) {
  return [kind && `${kind}-cell`, isEmpty?.(item) ? 'card-none' : `card-${card}`].filter(Boolean).join(' ');
}

/**
 * The address's parameters for the API, without any others.
 * @param {URL} address
 * @param {readonly Filter[]} filters
 */
function queryOf(address, filters) {
  const known = new Set([...filters.map(({ name }) => name), ...ownParameters]);
  const query = new URLSearchParams();
  for (const [name, value] of address.searchParams)
    if (known.has(name) && value !== '') query.append(name, value);
  return query;
}

/** @param {URL} address @param {readonly Filter[]} filters */
function filterKey(address, filters) {
  return filters.map(({ name }) => address.searchParams.get(name) ?? '').join('\n');
}

/** @param {{ readonly column: Column, readonly order: { by: string, order: string }, readonly address: URL }} options */
function Heading({ column: { label, sort, kind }, order, address }) {
  if (kind === 'action') return html`<th scope="col"><span class="unseen">${label}</span></th>`;
  if (sort === undefined) return html`<th scope="col">${label}</th>`;
  const isSorted = order.by === sort;
  const next = isSorted && order.order === 'desc' ? 'asc' : 'desc';
  const href = withParameters(address, { sort_by: sort, sort_order: next, cursor: null });
  const direction = order.order === 'asc' ? 'ascending' : 'descending';
  return html`
    <th scope="col" aria-sort=${isSorted ? direction : 'none'}>
      <a href=${href}>${label}<span class=${isSorted ? 'arrow' : 'arrow arrow-faint'} aria-hidden="true">${isSorted ? (order.order === 'asc' ? '↑' : '↓') : '↕'}</span></a>
    </th>
  `;
}

/** @param {{ readonly columns: number }} options */
function Waiting({ columns }) {
  return html`<tr><td colspan=${columns} class="quiet" role="status">Loading…</td></tr>`;
}

/** @param {{ readonly page: any, readonly what: ListOptions['what'], readonly address: URL }} options */
function Pages({ page, what, address }) {
  const link = (/** @type {string | null} */ cursor, /** @type {string} */ label) =>
    cursor === null
      ? html`<span class="button button-secondary" aria-disabled="true">${label}</span>`
      : html`<a class="button button-secondary" href=${withParameters(address, { cursor })}>${label}</a>`;
  return html`
    <nav class="pages" aria-label="Pages">
      <p class="hint" role="status">${page.total.toLocaleString()} ${what[page.total === 1 ? 0 : 1]}</p>
      ${link(page.previous_page, 'Previous')} ${link(page.items.length === 0 ? null : page.next_page, 'Next')}
    </nav>
  `;
}
