/** The end of a new API key, as a choice. */

import { useContext, useState } from 'preact/hooks';
import { Console } from './context.js';
import { Field, FieldProblem, useProblem } from './form.js';
import { html } from './show.js';

const dayMs = 86_400_000;

const presets = /** @type {const} */ ([
  [30, '30 days'],
  [90, '90 days'],
  [365, '1 year'],
]);

const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'long' });

/** A duration in words, such as `90 days`. @param {number} ms */
function lengthOf(ms) {
  const days = Math.round(ms / dayMs);
  if (ms >= dayMs) return `${days} ${days === 1 ? 'day' : 'days'}`;
  const hours = ms / (dayMs / 24);
  return hours >= 1 ? `${Math.round(hours)} hours` : `${Math.max(1, Math.round(ms / 60_000))} minutes`;
}

/**
 * The choices of lifetimes: days from now, `longest`, `never`, or `on` for a date. With a maximum, nothing goes beyond it.
 * @param {number | null} maxMs
 * @returns {readonly (readonly [value: string, label: string, ms: number | null])[]}
 */
function choicesOf(maxMs) {
  const within = presets.filter(([days]) => maxMs === null || days * dayMs < maxMs);
  return [
    ...within.map(([days, label]) => /** @type {const} */ ([String(days), label, days * dayMs])),
    maxMs === null ? ['never', 'Never', null] : ['longest', `${lengthOf(maxMs)}, the longest allowed`, maxMs],
    ['on', 'On a date…', null],
  ];
}

/**
 * `expires` for the API from the sent form; undefined: as long as allowed.
 * @param {import('./form.js').Sent} form
 * @returns {string | null | undefined}
 */
export function expiryOf({ text }) {
  const lifetime = text('lifetime');
  if (lifetime === 'never') return null;
  if (lifetime === 'longest') return undefined;
  if (lifetime === 'on') return text('expires') === '' ? '' : new Date(text('expires')).toISOString();
  return new Date(Date.now() + Number(lifetime) * dayMs).toISOString();
}

export function Expiry() {
  const { maxKeyLifetimeMs } = useContext(Console);
  const choices = choicesOf(maxKeyLifetimeMs);
  const [chosen, setChosen] = useState(maxKeyLifetimeMs === null ? '90' : 'longest');
  const problem = useProblem('expires');
  const ms = choices.find(([value]) => value === chosen)?.[2] ?? null;
  const words =
    ms === null
      ? chosen === 'never' && 'It works until it is deleted.'
      : `Until ${date.format(new Date(Date.now() + ms))}.`;
  return html`
    <div class="field">
      <label for="lifetime">Expires</label>
      <div class="beside">
        <select
          id="lifetime"
          name="lifetime"
          aria-describedby=${words ? 'lifetime-hint' : null}
          onChange=${(/** @type {Event} */ { target }) => setChosen(/** @type {HTMLSelectElement} */ (target).value)}
        >
          ${choices.map(([value, label]) => html`<option key=${value} value=${value} selected=${value === chosen}>${label}</option>`)}
        </select>
        ${words && html`<span class="hint" id="lifetime-hint">${words}</span>`}
      </div>
      ${chosen !== 'on' && html`<${FieldProblem} name="expires" problem=${problem} />`}
    </div>
    ${chosen === 'on' && html`<${Field} name="expires" label="Date and time" type="datetime-local" required=${true} />`}
  `;
}
