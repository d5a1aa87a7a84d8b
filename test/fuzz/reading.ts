/** What one parser made of a message. */
export interface ReadMessage {
  /** Of a request: method, target and the minor version; of a response: its status. */
  readonly start: string;
  /** Names and values in turn, as {@link comparableFields} returns them. */
  readonly fields: readonly string[];
  /** Latin1. */
  body: string;
  /** Its end was found. */
  isWhole: boolean;
}

/** What one parser made of all the bytes. */
export interface Reading {
  readonly messages: ReadMessage[];
  /** Why it stopped; null if it read every byte, or wasn't asked to continue. */
  refusal: string | null;
  /** It expects no further message: another protocol follows, or nothing. */
  isOver: boolean;
}

/** A reading of nothing. */
export function emptyReading(): Reading {
  return { messages: [], refusal: null, isOver: false };
}

/** Names in lower case, and the value of Transfer-Encoding too (RFC 9112 §7), as h11 returns it. */
export function comparableFields(fields: readonly string[]): string[] {
  const all = fields.map((text, index) => (index % 2 === 0 ? text.toLowerCase() : text));
  for (let i = 0; i < all.length; i += 2)
    if (all[i] === 'transfer-encoding') all[i + 1] = all[i + 1]!.toLowerCase();
  return all;
}

/** Where two readings differ: the same words for the same kind, and the parts in question. */
export interface Contradiction {
  readonly kind: string;
  readonly detail: string;
}

/**
 * The first thing in which the other parser contradicts ours; null: nothing. It may refuse less than we do; what we take
 * it must take too, and alike.
 */
export function contradiction(ours: Reading, other: Reading): Contradiction | null {
  for (const [index, message] of ours.messages.entries()) {
    const seen = other.messages[index];
    if (seen === undefined) {
      // Whether a connection stays open is its owner's choice, not a matter of parsing.
      if (other.isOver) return null;
      return { kind: other.refusal === null ? 'waits' : 'refuses', detail: other.refusal ?? '' };
    }
    const difference = differenceOf(message, seen, other.refusal);
    if (difference !== null) return difference;
    if (!message.isWhole && seen.isWhole && ours.refusal === null)
      return { kind: 'ends the message earlier', detail: inWords(message.body, seen.body) };
  }
  return null;
}

function differenceOf(ours: ReadMessage, other: ReadMessage, refusal: string | null): Contradiction | null {
  if (ours.start !== other.start)
    return { kind: 'reads another start', detail: inWords(ours.start, other.start) };
  if (JSON.stringify(ours.fields) !== JSON.stringify(other.fields))
    return { kind: 'reads other fields', detail: inWords(ours.fields, other.fields) };
  if (ours.isWhole && !other.isWhole)
    return { kind: refusal === null ? 'ends the message later' : 'refuses the body', detail: refusal ?? '' };
  const isAlike = ours.isWhole
    ? ours.body === other.body
    : ours.body.startsWith(other.body) || other.body.startsWith(ours.body);
  return isAlike ? null : { kind: 'reads another body', detail: inWords(ours.body, other.body) };
}

function inWords(ours: unknown, other: unknown): string {
  return `${escaped(ours)}, not ${escaped(other)}`;
}

/** As JSON, in ASCII: to be copied from a terminal. */
export function escaped(value: unknown): string {
  return JSON.stringify(value).replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
