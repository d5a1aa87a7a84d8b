import { MalformedMessage } from './message-head.ts';

/** Where the body of a response ends, and what becomes of the connection then (RFC 9112 §6.3, §9.3). */
export interface ResponseFraming {
  readonly kind: 'length' | 'chunked' | 'close';
  /** Bytes of body on the wire, for `length`. */
  readonly length: number;
  /** `Content-Length` as announced, also where no body follows; -1 without. */
  readonly announced: number;
  readonly reusable: boolean;
  /** How long the upstream says it keeps the connection, less a second, in milliseconds; null when it doesn't say. */
  readonly keepAliveMs: number | null;
}

/** Reads the framing; throws {@link MalformedMessage} for what two readers could take apart in two ways. */
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
          // Said once, it holds, whatever else is said.
          closes ||= names(value, 'close');
          keepsAlive ||= names(value, 'keep-alive');
        } else if (name.toLowerCase() === 'keep-alive') keepAliveMs = keepAliveOf(value);
        break;
    }
  }
  const announced = lengthText === null ? -1 : lengthOf(lengthText);
  const reusable = keepsAlive && !closes;
  // Also where no body follows: whoever reads such a head otherwise waits for one.
  if (coding !== null && (announced >= 0 || coding !== 'chunked' || minor === 0))
    throw new MalformedMessage('transfer-encoding');
  if (method === 'HEAD' || status === 204 || status === 304) {
    // A body that comes all the same, late, would be read as the next answer: only a head that announces none is taken
    // at its word.
    const clean = method !== 'HEAD' && announced <= 0 && coding === null;
    return { kind: 'length', length: 0, announced, reusable: reusable && clean, keepAliveMs };
  }
  if (coding !== null) return { kind: 'chunked', length: -1, announced, reusable, keepAliveMs };
  if (announced >= 0) return { kind: 'length', length: announced, announced, reusable, keepAliveMs };
  return { kind: 'close', length: -1, announced, reusable: false, keepAliveMs };
}

/**
 * Refuses an interim response that announces a body: it has none (RFC 9110 §15.2), and what an upstream sends as one would
 * be read as the response itself. Throws {@link MalformedMessage}.
 */
export function assertNoInterimBody(fields: readonly string[]): void {
  let hasLength = false;
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!.toLowerCase();
    const isLength = name === 'content-length';
    if (name === 'transfer-encoding' || (isLength && (hasLength || fields[i + 1] !== '0')))
      throw new MalformedMessage('body of an interim answer');
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

/** The upstream's own time-out, met a second early: a request sent at that moment would be lost. */
function keepAliveOf(value: string): number | null {
  const seconds = /(?:^|[,;\s])timeout=(\d{1,6})/i.exec(value)?.[1];
  return seconds === undefined ? null : Math.max(0, Number(seconds) * 1000 - 1000);
}

/** What a 101 says it switches to, in lower case. */
export function upgradeNamedIn(fields: readonly string[]): string {
  for (let i = 0; i < fields.length; i += 2)
    if (fields[i]!.toLowerCase() === 'upgrade') return fields[i + 1]!.toLowerCase();
  return '';
}
