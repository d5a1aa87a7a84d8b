/** The filters of a list: people enter and see names where the address has ids. */

import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { go, withParameters } from './address.js';
import { Console } from './context.js';
import { sent } from './form.js';
import { useLoaded } from './loaded.js';
import { kinds } from './names.js';
import { html } from './show.js';
import { isolated } from './text.js';

/**
 * Kind of a filter's value: a text, a date, the name of a user or set, any id or the name of a user, or an existing scope.
 * @typedef {'text' | 'date' | 'user' | 'id' | 'set' | 'scope'} FilterType
 * @typedef {{
 *   readonly name: string,
 *   readonly label: string,
 *   readonly choices?: readonly (readonly [value: string, label: string])[],
 *   readonly type?: FilterType,
 *   readonly isRare?: boolean,
 * }} Filter
 * @typedef {Pick<import('./context.js').ConsoleContext, 'api' | 'served' | 'may'>} Reader
 */

/** Kinds of records that a filter's ids may belong to, as in `kinds`. @type {Partial<Record<FilterType, readonly string[]>>} */
const namedBy = { user: ['user'], set: ['scope_set'], id: ['user', 'scope_set', 'api_key'] };

/** @param {Filter['type']} type @param {Reader} reader */
function readableKinds(type, { served, may }) {
  return (namedBy[type ?? 'text'] ?? [])
    .flatMap((name) => kinds[name] ?? [])
    .filter(({ scope, endpoint }) => may(scope) && (endpoint === null || served.has(endpoint)));
}

/**
 * The form of a list's filters. `path` is that of the list in the API; `names` maps the ids that were entered to their names.
 * @param {{
 *   readonly filters: readonly Filter[],
 *   readonly address: URL,
 *   readonly path: string,
 *   readonly names: Map<string, string>,
 * }} options
 */
export function Filters({ filters, address, path, names }) {
  const context = useContext(Console);
  const [problem, setProblem] = useState('');
  const scopes = useLoaded(
    async () => (filters.some(({ type }) => type === 'scope') ? scopesOf(context.api, path) : []),
    [path],
  );
  /** @param {SubmitEvent} event */
  const apply = async (event) => {
    const form = sent(event);
    /** @type {Record<string, string | null>} */
    const changes = { cursor: null };
    try {
      for (const { name, type } of filters) {
        const value = form.text(name).trim();
        const before = address.searchParams.get(name) ?? '';
        if (type === 'date') changes[name] = instantOf(value);
        else if (value === '' || names.get(before) === value) changes[name] = value && before;
        else changes[name] = await idOf(value, type);
        if (changes[name] !== value) names.set(changes[name] ?? '', value);
      }
    } catch (error) {
      return setProblem(/** @type {Error} */ (error).message);
    }
    setProblem('');
    go(withParameters(address, changes));
  };
  /** The id of the named record, for filters that take names. @param {string} value @param {Filter['type']} type */
  async function idOf(value, type) {
    const [kind] = readableKinds(type, context);
    if (kind === undefined || isId(value)) return value;
    const query = new URLSearchParams({ [`${kind.field}__eq`]: value });
    const { value: page } = await context.api.get(`${kind.path}?${query}`);
    const id = page.items[0]?.id;
    if (id === undefined && type !== 'id') throw new Error(`There is no ${kind.what} ${isolated(value)}.`);
    return id ?? value;
  }
  const [isOpen, setOpen] = useState(false);
  const set = filters.filter(({ name }) => address.searchParams.has(name));
  const choicesOf = (/** @type {Filter} */ filter) =>
    filter.type === 'scope' ? scopeChoices(scopes.value ?? [], address, filter) : filter.choices;
  const field = (/** @type {Filter} */ filter) =>
    html`<${FilterField} key=${filter.name} filter=${{ ...filter, choices: choicesOf(filter) }} address=${address} names=${names} />`;
  const rare = filters.filter(({ isRare }) => isRare);
  return html`
    <button type="button" class="button button-secondary folds" aria-expanded=${isOpen} aria-controls="filters" onClick=${() => setOpen(!isOpen)}>
      Filters${set.length > 0 && ` (${set.length})`}
    </button>
    <form id="filters" class=${isOpen ? 'filters' : 'filters folded-away'} onSubmit=${apply} role="search">
      ${filters.filter(({ isRare }) => !isRare).map(field)}
      <button type="submit" class="button button-secondary">Filter</button>
      ${set.length > 0 && html`<a class="clear" href=${address.pathname}>Clear</a>`}
      ${
        rare.length > 0 &&
        html`
          <details class="more" open=${set.some(({ isRare }) => isRare)}>
            <summary>More</summary>
            <div class="filters">${rare.map(field)}</div>
          </details>
        `
      }
      ${problem !== '' && html`<p class="filter-problem" role="alert">${problem}</p>`}
    </form>
  `;
}

/** @param {string} value */
const isId = (value) => /^[0-9a-f-]{32,36}$/.test(value);

/**
 * The scopes that a list can be filtered by.
 * @param {import('./api.js').Api} api
 * @param {string} path
 * @returns {Promise<readonly string[]>}
 */
async function scopesOf(api, path) {
  const { value } = await api.get(`${path}filters`);
  return value.filters.find((/** @type {any} */ { field }) => field === 'scopes')?.values ?? [];
}

/**
 * The scopes to choose from, with the address's own even before the others are loaded.
 * @param {readonly string[]} scopes
 * @param {URL} address
 * @param {Filter} filter
 * @returns {readonly (readonly [string, string])[]}
 */
function scopeChoices(scopes, address, { name }) {
  const asked = address.searchParams.get(name);
  const all = asked === null || scopes.includes(asked) ? scopes : [asked, ...scopes];
  return all.map((scope) => /** @type {const} */ ([scope, scope]));
}

/** @param {string} value A local date and time. Throws an error with a message for people. */
function instantOf(value) {
  if (value === '') return '';
  const date = new Date(value);
  if (Number.isNaN(date.getTime())) throw new Error('This is not a valid date.');
  return date.toISOString();
}

/**
 * A filter's field, which shows the address's value until something else is entered: entries stay while the list loads.
 * @param {{ readonly filter: Filter, readonly address: URL, readonly names: Map<string, string> }} options
 */
function FilterField({ filter: { name, label, choices, type = 'text' }, address, names }) {
  const context = useContext(Console);
  const field = useRef(/** @type {any} */ (null));
  useLayoutEffect(() => {
    const value = address.searchParams.get(name) ?? '';
    field.current.value = type === 'date' && value !== '' ? localDate(value) : (names.get(value) ?? value);
    if (value === '' || names.has(value)) return;
    void nameOf(value, type, context).then((found) => {
      if (found === null || field.current?.value !== value) return;
      names.set(value, found);
      field.current.value = found;
    });
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
              ${choices.map(([choice, words]) => html`<option key=${choice} value=${choice}>${words}</option>`)}
            </select>`
      }
    </div>
  `;
}

/**
 * The name of a record by id; null if the reader may not see it.
 * @param {string} id
 * @param {FilterType} type
 * @param {Reader} reader
 */
async function nameOf(id, type, reader) {
  for (const { path, field } of readableKinds(type, reader)) {
    const found = await reader.api.get(path + encodeURIComponent(id)).catch(() => null);
    if (found !== null) return String(found.value[field]);
  }
  return null;
}

/** An instant in the form of a field for local dates and times. @param {string} instant */
function localDate(instant) {
  const date = new Date(instant);
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
