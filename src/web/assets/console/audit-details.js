/** All fields of an event of the audit. */

import { spoken } from './events.js';
import { CopyButton, html, Name } from './show.js';
import { Text } from './text.js';
import { Time } from './times.js';

/**
 * The members of an object as pairs of a name and a text, nested ones with the names of both.
 * @param {object} value
 * @returns {readonly (readonly [string, string])[]}
 */
function fieldsOf(value, before = '') {
  return Object.entries(value).flatMap(([name, member]) => {
    if (member === null || member === undefined) return [];
    if (Array.isArray(member)) return member.length === 0 ? [] : [[before + spoken(name), member.join(', ')]];
    if (typeof member === 'object') return fieldsOf(member, `${before}${spoken(name)} `);
    return [/** @type {const} */ ([before + spoken(name), String(member)])];
  });
}

/** @param {{ readonly event: any }} options */
export function EventDetails({ event: { time, event, ...others } }) {
  return html`
    <dl class="fields">
      <div><dt>time</dt><dd><${Time} at=${time} seconds=${true} /> <code class="quiet">${time}</code></dd></div>
      <div><dt>event</dt><dd><${Name} name=${event} /></dd></div>
      ${fieldsOf(others).map(([name, text]) => html`<div key=${name}><dt>${name}</dt><dd><${Text} of=${text} /></dd></div>`)}
    </dl>
    <${CopyButton} text=${JSON.stringify({ time, event, ...others })} what="as JSON" isWhole=${true} />
  `;
}
