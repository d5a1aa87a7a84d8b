/** A list of the API as a table: filters, order and page are parameters of the address, named as the API names them. */

import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { go, useAddress, withParameters } from './address.js';
import { Console } from './context.js';
import { sent } from './form.js';
import { useLoaded } from './loaded.js';
import { html, Problem } from './show.js';

/**
 * @typedef {{ readonly label: string, readonly sort?: string, readonly kind?: 'wide' | 'name' | 'tight', readonly cell: (item: any) => unknown }} Column
 * @typedef {{ readonly name: string, readonly label: string, readonly choices?: readonly (readonly [value: string, label: string])[], readonly type?: 'text' | 'date' | 'user' | 'id' }} Filter
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
  const isFiltered = filters.some(({ name }) => address.searchParams.has(name));
  const order = {
    by: address.searchParams.get('sort_by') ?? sort.by,
    order: address.searchParams.get('sort_order') ?? sort.order,
  };

  return html`
    ${filters.length > 0 && html`<${Filters} key=${filterKey(address, filters)} filters=${filters} address=${address} />`}
    ${
      error !== null
        ? html`<${Problem}
            error=${error}
            again=${error.code === 'invalid_cursor' ? () => go(withParameters(address, { cursor: null })) : reload}
          />`
        : html`
            <div class="table-frame" aria-busy=${isLoading}>
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
 * What of the address is for the API; anything else in it is left out.
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

/** @param {{ readonly filters: readonly Filter[], readonly address: URL }} options */
function Filters({ filters, address }) {
  const { api, served, may } = useContext(Console);
  const [problem, setProblem] = useState('');
  const mayLookUp = served.has('users') && may('users:read');
  /** @param {SubmitEvent} event */
  const apply = async (event) => {
    const form = sent(event);
    /** @type {Record<string, string | null>} */
    const changes = { cursor: null };
    try {
      for (const { name, type } of filters) {
        const value = form.text(name).trim();
        changes[name] = type === 'date' ? instantOf(value) : await idIn(value, type);
      }
    } catch (error) {
      return setProblem(/** @type {Error} */ (error).message);
    }
    setProblem('');
    go(withParameters(address, changes));
  };
  /** The id of the user whose name it is, where it may be one. @param {string} value @param {Filter['type']} type */
  async function idIn(value, type) {
    if (!mayLookUp || (type !== 'user' && type !== 'id')) return value;
    const id = await userIdOf(api, value);
    if (id === null && type === 'user') throw new Error(`There is no user ${value}.`);
    return id ?? value;
  }
  const isSet = filters.some(({ name }) => address.searchParams.has(name));
  return html`
    <form class="filters" onSubmit=${apply} role="search">
      ${filters.map((filter) => html`<${FilterField} filter=${filter} address=${address} />`)}
      <button type="submit" class="button button-secondary">Filter</button>
      ${isSet && html`<a class="clear" href=${address.pathname}>Clear</a>`}
      ${problem !== '' && html`<p class="filter-problem" role="alert">${problem}</p>`}
    </form>
  `;
}

/**
 * The id of the user who has that name; what looks like an id is taken for one. Null: there is no such user.
 * @param {import('./api.js').Api} api
 * @param {string} value
 * @returns {Promise<string | null>}
 */
async function userIdOf(api, value) {
  if (value === '' || /^[0-9a-f-]{32,36}$/.test(value)) return value;
  const { value: page } = await api.get(`/api/admin/users/?username__eq=${encodeURIComponent(value)}`);
  return page.items[0]?.id ?? null;
}

/** @param {string} value A local date and time. Throws an error whose message people are shown. */
function instantOf(value) {
  if (value === '') return '';
  const date = new Date(value);
  if (Number.isNaN(date.getTime())) throw new Error('This is not a valid date.');
  return date.toISOString();
}

/**
 * Shows what the address has, until something else is entered: that stays while the list loads.
 * @param {{ readonly filter: Filter, readonly address: URL }} options
 */
function FilterField({ filter: { name, label, choices, type = 'text' }, address }) {
  const field = useRef(/** @type {any} */ (null));
  useLayoutEffect(() => {
    const value = address.searchParams.get(name) ?? '';
    field.current.value = type === 'date' && value !== '' ? localDate(value) : value;
  }, [address.search]);
  return html`
    <div class="field">
      <label for=${`filter-${name}`}>${label}</label>
      ${
        choices === undefined
          ? html`<input
              ref=${field}
              id=${`filter-${name}`}
              name=${name}
              type=${type === 'date' ? 'datetime-local' : 'text'}
              autocomplete="off"
              spellcheck=${false}
            />`
          : html`<select ref=${field} id=${`filter-${name}`} name=${name}>
              <option value="">Any</option>
              ${choices.map(([choice, words]) => html`<option value=${choice}>${words}</option>`)}
            </select>`
      }
    </div>
  `;
}

/** As a field for local dates and times has it. @param {string} instant */
function localDate(instant) {
  const date = new Date(instant);
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
