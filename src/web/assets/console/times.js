/** Instants in words: how long ago or from now, and the exact one where the reader looks for it. */

import { useEffect, useState } from 'preact/hooks';
import { html } from './show.js';

const short = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const withSeconds = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });
// The page is in English, whatever the language of the browser.
const relative = new Intl.RelativeTimeFormat('en-GB');

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/**
 * Units of distances in time, each with the number of them from which it is used.
 * @type {readonly (readonly [unit: Intl.RelativeTimeFormatUnit, ms: number, least: number])[]}
 */
const units = [
  ['year', 365.25 * dayMs, 2],
  ['month', 30.44 * dayMs, 4],
  ['day', dayMs, 2],
  ['hour', hourMs, 2],
];

/** The distance from now in words, such as `in 12 days`. @param {number} differenceMs Positive: in the future. */
export function distance(differenceMs) {
  const length = Math.abs(differenceMs);
  if (length < minuteMs) return differenceMs < 0 ? 'just now' : 'in less than a minute';
  const [unit, unitMs] = units.find(([, ms, least]) => length >= least * ms) ?? [
    /** @type {const} */ ('minute'),
    minuteMs,
  ];
  return relative.format(Math.round(differenceMs / unitMs), unit);
}

/** Hook: renders the caller again every minute. */
function useMinutes() {
  const [, setMinute] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setMinute((before) => before + 1), minuteMs);
    return () => clearInterval(timer);
  }, []);
}

/** The end of something that is near enough to stand out. */
const soonMs = 7 * dayMs;

/**
 * An instant in the reader's time zone, relative to now; the exact one is there on hover, and while its row has the focus.
 * `isEnd`: true to have the last days before it stand out.
 * @param {{ readonly at: string | null, readonly none?: string, readonly isEnd?: boolean }} options
 */
export function Ago({ at, none = 'never', isEnd = false }) {
  useMinutes();
  if (at === null) return html`<span class="quiet">${none}</span>`;
  const instant = new Date(at);
  const difference = instant.getTime() - Date.now();
  const isSoon = isEnd && difference > 0 && difference < soonMs;
  return html`<time class=${isSoon ? 'soon' : null} datetime=${at} title=${`${exact.format(instant)} · ${at}`}><span class="relative">${distance(difference)}</span><span class="exact">${short.format(instant)}</span></time>`;
}

/** The words in place of the last use of a key. Uses are noted once a minute, so that the key may have been used just now. */
export const noUse = 'no use seen yet';

/** When a key was last used. @param {{ readonly at: string | null, readonly none?: string }} options */
export function LastUse({ at, none = 'none seen' }) {
  if (at !== null) return html`<${Ago} at=${at} />`;
  return html`<span class="quiet" title="A use is noted within a minute">${none}</span>`;
}

/**
 * An exact instant in the reader's time zone, in full on hover.
 * @param {{ readonly at: string | null, readonly none?: string, readonly seconds?: boolean }} options
 */
export function Time({ at, none = 'never', seconds = false }) {
  if (at === null) return html`<span class="quiet">${none}</span>`;
  const instant = new Date(at);
  return html`<time datetime=${at} title=${`${exact.format(instant)} · ${at}`}>${(seconds ? withSeconds : short).format(instant)}</time>`;
}

/**
 * An exact instant with its distance from now, for the page of one record.
 * @param {{ readonly at: string | null, readonly none?: string }} options
 */
export function Both({ at, none }) {
  useMinutes();
  if (at === null) return html`<${Time} at=${null} none=${none} />`;
  return html`<${Time} at=${at} /> <span class="quiet">${distance(new Date(at).getTime() - Date.now())}</span>`;
}
