/** A list of the API as a table: filters, order and page are parameters of the address, named as the API names them. */

import { useContext, useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { useAddress, withParameters } from './address.js';
import { Console } from './context.js';
import { Filters } from './filters.js';
import { useLoaded } from './loaded.js';
import { html, Problem } from './show.js';

/**
 * @typedef {{
 *   readonly label: string,
 *   readonly sort?: string,
 *   readonly kind?: 'wide' | 'name' | 'tight',
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
 *   readonly onLoaded?: (page: any) => void,
 * }} ListOptions
 */

const ownParameters = ['cursor', 'sort_by', 'sort_order', 'size'];

/** @param {ListOptions} options */
export function List({ path, what, columns, filters, sort, empty, version, onLoaded }) {
  const { api } = useContext(Console);
  const address = useAddress();
  const names = useRef(/** @type {Map<string, string>} */ (new Map()));
  const asked = queryOf(address, filters).toString();
  const {
    value: page,
    error,
    isLoading,
    reload,
  } = useLoaded(async () => (await api.get(`${path}?${asked}`)).value, [path, asked, version]);
  useEffect(() => {
    if (page !== null) onLoaded?.(page);
  }, [page]);
  const table = useRef(/** @type {HTMLElement | null} */ (null));
  const hadFocus = table.current?.contains(document.activeElement);
  useLayoutEffect(() => {
    // The focused element is gone with its row.
    if (hadFocus && document.activeElement === document.body) table.current?.focus();
  }, [page]);
  const isFiltered = filters.some(({ name }) => address.searchParams.has(name));
  const order = {
    by: address.searchParams.get('sort_by') ?? sort.by,
    order: address.searchParams.get('sort_order') ?? sort.order,
  };

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
              <table>
                <thead>
                  <tr>
                    ${columns.map((column) => html`<${Heading} column=${column} order=${order} address=${address} />`)}
                  </tr>
                </thead>
                <tbody>
                  ${page === null && html`<${Waiting} columns=${columns.length} />`}
                  ${page?.items.map(
                    (/** @type {any} */ item) => html`
                      <tr key=${item.id}>
                        ${columns.map(
                          (column) => html`
                            <td data-label=${column.label} class=${column.kind === undefined ? null : `${column.kind}-cell`}><div>${column.cell(item)}</div></td>
                          `,
                        )}
                      </tr>
                    `,
                  )}
                </tbody>
              </table>
            </div>
            ${
              page !== null &&
              page.items.length === 0 &&
              html`
                <div class="empty">
                  ${
                    isFiltered || address.searchParams.has('cursor')
                      ? html`<p>Nothing here matches.</p>
                          <p><a href=${address.pathname}>Show all ${what[1]}</a></p>`
                      : empty
                  }
                </div>
              `
            }
            ${page !== null && html`<${Pages} page=${page} what=${what} address=${address} />`}
          `
    }
  `;
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
function Heading({ column: { label, sort }, order, address }) {
  if (sort === undefined) return html`<th scope="col">${label}</th>`;
  const isSorted = order.by === sort;
  const next = isSorted && order.order === 'desc' ? 'asc' : 'desc';
  const href = withParameters(address, { sort_by: sort, sort_order: next, cursor: null });
  const direction = order.order === 'asc' ? 'ascending' : 'descending';
  return html`
    <th scope="col" aria-sort=${isSorted ? direction : 'none'}>
      <a href=${href}>${label}<span class="arrow" aria-hidden="true">${isSorted ? (order.order === 'asc' ? '↑' : '↓') : ''}</span></a>
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
