import { MalformedMessage } from '../message/message-head.ts';

/** Framing of a response's body, and whether its connection can be reused (RFC 9112 §6.3, §9.3). */
export interface ResponseFraming {
  readonly kind: 'length' | 'chunked' | 'close';
  /** Size of the body in bytes; -1 unless `kind` is `length`. */
  readonly length: number;
  /** Value of `Content-Length`, even if no body follows; -1 if the header is absent. */
  readonly announced: number;
  readonly reusable: boolean;
  /** The upstream's keep-alive timeout minus a second, ms; null if it states none. */
  readonly keepAliveMs: number | null;
}

/** Reads a response's framing; `method`: the request's. Throws {@link MalformedMessage} if readers could disagree on it. */
export function framingOf(
  method: string,
  status: number,
  minor: number,
  fields: readonly string[],
): ResponseFraming {
  let lengthText: string | null = null;
  let coding: string | null = null;
  let closes = false;
  let keepsAlive = minor === 1;
  let keepAliveMs: number | null = null;
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!;
    const value = fields[i + 1]!;
    switch (name.length) {
      case 14:
        if (name.toLowerCase() !== 'content-length') break;
        if (lengthText !== null) throw new MalformedMessage('content-length twice');
        lengthText = value;
        break;
      case 17:
        if (name.toLowerCase() !== 'transfer-encoding') break;
        if (coding !== null) throw new MalformedMessage('transfer-encoding twice');
        coding = value.toLowerCase();
        break;
      case 10:
        if (name.toLowerCase() === 'connection') {
          // Each option counts, whichever of several fields has it.
          closes ||= names(value, 'close');
          keepsAlive ||= names(value, 'keep-alive');
        } else if (name.toLowerCase() === 'keep-alive') keepAliveMs = keepAliveOf(value);
        break;
    }
  }
  const announced = lengthText === null ? -1 : lengthOf(lengthText);
  const reusable = keepsAlive && !closes;
  // Refused even if no body follows: other readers of such a head would wait for one.
  if (coding !== null && (announced >= 0 || coding !== 'chunked' || minor === 0))
    throw new MalformedMessage('transfer-encoding');
  if (method === 'HEAD' || status === 204 || status === 304) {
    // A late body would be read as the next response, so the connection is reused only if the head announces none.
    const announcesNone = method !== 'HEAD' && announced <= 0 && coding === null;
    return { kind: 'length', length: 0, announced, reusable: reusable && announcesNone, keepAliveMs };
  }
  if (coding !== null) return { kind: 'chunked', length: -1, announced, reusable, keepAliveMs };
  if (announced >= 0) return { kind: 'length', length: announced, announced, reusable, keepAliveMs };
  return { kind: 'close', length: -1, announced, reusable: false, keepAliveMs };
}

/**
 * Refuses an interim response that announces a body: it can't have a body (RFC 9110 §15.2), and bytes sent as one would be read
 * as the final response. Throws {@link MalformedMessage}.
 */
export function assertNoInterimBody(fields: readonly string[]): void {
  let hasLength = false;
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!.toLowerCase();
    const isLength = name === 'content-length';
    if (name === 'transfer-encoding' || (isLength && (hasLength || fields[i + 1] !== '0')))
      throw new MalformedMessage('interim response with a body');
    hasLength ||= isLength;
  }
}

function names(connection: string, option: string): boolean {
  return connection
    .toLowerCase()
    .split(',')
    .some((each) => each.trim() === option);
}

function lengthOf(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new MalformedMessage('content-length');
  return Number(text);
}

/** The upstream's timeout minus a second, ms, as a request sent just when it expires would be lost; null if none is stated. */
function keepAliveOf(value: string): number | null {
  const seconds = /(?:^|[,;\s])timeout=(\d{1,6})/i.exec(value)?.[1];
  return seconds === undefined ? null : Math.max(0, Number(seconds) * 1000 - 1000);
}

/** The protocol that a 101 switches to, in lower case; empty if it names none. */
export function upgradeNamedIn(fields: readonly string[]): string {
  for (let i = 0; i < fields.length; i += 2)
    if (fields[i]!.toLowerCase() === 'upgrade') return fields[i + 1]!.toLowerCase();
  return '';
}
