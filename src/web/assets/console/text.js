/**
 * Texts that people choose: names, labels, descriptions, user agents. Such a text may run from right to left, and may have
 * characters that change the direction of what follows; its surroundings keep their direction (UAX #9).
 */

import { h } from 'preact';

/** Maximum number of letters of a word, or of its part, that stay on one line if the page has room. */
const mostWhole = 22;

const longWord = new RegExp(`(\\S{${mostWhole + 1},})`);

/** Places in a long word, such as an email address, where a line may end. */
const joint = /(?<=[.:/_-])|(?=@)/;

/**
 * The text with balanced isolates: each one opened is closed, and no other. `bdi` alone doesn't contain a text with its own PDI
 * (U+2069), or with a paragraph separator, which ends every isolate.
 * @param {string} text
 */
function contained(text) {
  let depth = 0;
  const kept = text.replaceAll(/[\u2066-\u2069\u2029\p{Cc}]/gu, (character) => {
    if (character < '\u2066') return ' ';
    if (character !== '\u2069') {
      depth++;
      return character;
    }
    if (depth === 0) return '';
    depth--;
    return character;
  });
  return kept + '\u2069'.repeat(depth);
}

/**
 * The text for use without an element: in a title, an attribute, the middle of a string.
 * @param {string} text
 */
export function isolated(text) {
  return /^[ -~]*$/.test(text) ? text : `\u2068${contained(text)}\u2069`;
}

/** A text chosen by people. @param {{ readonly of: string }} options */
export function Text({ of }) {
  const words = contained(of).split(longWord);
  return h(
    'bdi',
    null,
    words.map((part, index) => (index % 2 === 0 ? part : linesOf(part).map(lineOf))),
  );
}

/** @param {string} line @param {number} index */
function lineOf(line, index) {
  const whole = line.length > mostWhole ? h('span', { class: 'endless' }, line) : line;
  return index === 0 ? whole : [h('wbr', null), whole];
}

/** Splits a long word at its joints into parts that may stay whole, as far as possible. @param {string} word */
function linesOf(word) {
  /** @type {string[]} */
  const lines = [];
  for (const part of word.split(joint)) {
    const last = lines.at(-1);
    const fits = last !== undefined && !part.startsWith('@') && last.length + part.length <= mostWhole;
    if (fits) lines[lines.length - 1] = last + part;
    else lines.push(part);
  }
  return lines;
}

/**
 * Texts or elements with `separator` between them; null for none.
 * @param {readonly unknown[]} texts
 * @param {string} separator
 */
export function listed(texts, separator) {
  return texts.length === 0 ? null : texts.map((text, index) => [index > 0 && separator, text]);
}
