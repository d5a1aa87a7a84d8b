import { Refusal } from '../../errors.ts';
import { originOf } from '../session-origin.ts';
import type { LiveSession, NewSession, ProviderIdentity, Session } from '../sessions.ts';

/** The fields of a new session's hash, each followed by its value; null ones are left out. */
export function fieldsOf(session: NewSession): string[] {
  const { userId, method, scope, address, userAgent, epoch, provider, sealedIdToken, sealedClaims } = session;
  const fields = ['userId', userId, 'method', method, 'address', address, 'userAgent', userAgent];
  fields.push('epoch', String(epoch));
  if (scope !== null) fields.push('scope', scope);
  if (provider) fields.push('issuer', provider.issuer, 'subject', provider.subject);
  if (provider?.sid) fields.push('sid', provider.sid);
  if (sealedIdToken) fields.push('idToken', sealedIdToken);
  if (sealedClaims) fields.push('claims', sealedClaims);
  return fields;
}

/** Parses the reply to HGETALL of a session; undefined when there is no session. Throws TypeError on anything else. */
export function sessionFrom(id: string, reply: unknown): Session | undefined {
  if (!isListOfTexts(reply) || reply.length % 2 !== 0) throw new TypeError('unexpected reply to HGETALL');
  if (reply.length === 0) return undefined;
  const fields = new Map<string, string>();
  for (let index = 0; index < reply.length; index += 2) fields.set(reply[index]!, reply[index + 1]!);
  return {
    id,
    userId: fields.get('userId') ?? fail('userId'),
    method: fields.get('method') ?? fail('method'),
    scope: fields.get('scope') ?? null,
    address: fields.get('address') ?? '',
    userAgent: fields.get('userAgent') ?? '',
    created: wholeNumber(fields.get('created'), 'created'),
    lastUsed: wholeNumber(fields.get('lastUsed'), 'lastUsed'),
    expires: wholeNumber(fields.get('expires'), 'expires'),
    generation: wholeNumber(fields.get('generation'), 'generation'),
    epoch: epochFrom(fields.get('epoch')),
    provider: providerFrom(fields.get('issuer'), fields.get('subject'), fields.get('sid')),
    sealedIdToken: fields.get('idToken') ?? null,
    sealedClaims: fields.get('claims') ?? null,
  };
}

/** The fields that {@link liveSessionFrom} parses, in this order. */
export const liveFields = [
  'userId',
  'expires',
  'epoch',
  'method',
  'scope',
  'issuer',
  'subject',
  'claims',
] as const;

/** Parses the reply to HMGET of {@link liveFields}; undefined when there is no session. Throws TypeError on anything else. */
export function liveSessionFrom(id: string, reply: unknown): LiveSession | undefined {
  const texts = textsFrom(reply, liveFields.length);
  const [userId = null, expires, epoch, method, scope, issuer, subject, claims = null] = texts;
  if (userId === null && expires === null) return undefined;
  return {
    id,
    userId: userId ?? fail('userId'),
    expires: wholeNumber(expires, 'expires'),
    epoch: epochFrom(epoch),
    isRestricted: scope !== null,
    origin: originOf({ method: method ?? fail('method'), provider: providerFrom(issuer, subject) }),
    sealedClaims: claims,
  };
}

/** Parses the epoch; 0 for sessions from before epochs were kept. */
function epochFrom(text: unknown): number {
  return text === null || text === undefined ? 0 : wholeNumber(text, 'epoch');
}

/** Parses the fields of the session in the reply `used` of `note-use.lua`. Throws TypeError on anything else. */
export function usedSessionFrom(id: string, reply: unknown) {
  const [created, lastUsed, expires, userId, method] = textsFrom(reply, 5);
  return {
    id,
    created: wholeNumber(created, 'created'),
    lastUsed: wholeNumber(lastUsed, 'lastUsed'),
    expires: wholeNumber(expires, 'expires'),
    userId: userId ?? fail('userId'),
    method: method ?? fail('method'),
  };
}

/** Parses the fields of the session in the reply `reindex` of a script. Throws TypeError on anything else. */
export function indexedFrom(reply: unknown): Pick<Session, 'userId' | 'provider'> {
  const [userId, ...provider] = textsFrom(reply, 4);
  return { userId: userId ?? fail('userId'), provider: providerFrom(...provider) };
}

function providerFrom(
  issuer?: string | null,
  subject?: string | null,
  sid?: string | null,
): ProviderIdentity | null {
  return issuer == null || subject == null ? null : { issuer, subject, sid: sid ?? null };
}

/** Parses a list of session ids. Throws TypeError on anything else. */
export function sessionIdsFrom(reply: unknown): readonly string[] {
  if (!isListOfTexts(reply)) throw new TypeError('unexpected reply instead of session ids');
  return reply;
}

function isListOfTexts(reply: unknown): reply is readonly string[] {
  return Array.isArray(reply) && reply.every((item) => typeof item === 'string');
}

/** Page of a list, as read by `list-page.lua`. */
export type RankedPage = ReturnType<typeof pageFrom>;

/**
 * Parses the reply of `list-page.lua`: the numbers of entries in the whole range, before the page and after it, and the entries
 * of the page, all ascending by instant. `now`: when it was read, epoch ms by the clock of the lists. Throws TypeError on
 * anything else.
 */
export function pageFrom([total, lower, higher, entries]: readonly unknown[], now: number) {
  if (!isListOfTexts(entries) || entries.length % 2 !== 0) throw new TypeError('unexpected reply for a page');
  const pairs = Array.from({ length: entries.length / 2 }, (_, index) => ({
    id: entries[2 * index]!,
    instant: wholeNumber(entries[2 * index + 1], 'instant'),
  }));
  const page = { total: countFrom(total), lower: countFrom(lower), higher: countFrom(higher) };
  if (page.total !== page.lower + pairs.length + page.higher)
    throw new TypeError('a page with another total');
  return { ...page, now, entries: pairs };
}

/** Parses a count. Throws TypeError on anything else. */
export function countFrom(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new TypeError('unexpected reply: not a number');
}

/** Parses an array of `length` texts, each of which may be null. Throws TypeError on anything else. */
export function textsFrom(reply: unknown, length: number): readonly (string | null)[] {
  const isText = (value: unknown) => value === null || typeof value === 'string';
  if (Array.isArray(reply) && reply.length === length && reply.every(isText)) return reply;
  throw new TypeError('unexpected reply instead of texts');
}

/** Parses a whole number from the text that Redis keeps; `name` is for the error. Throws TypeError on anything else. */
export function wholeNumber(text: unknown, name: string): number {
  const number = typeof text === 'string' && text !== '' ? Number(text) : Number.NaN;
  return Number.isSafeInteger(number) ? number : fail(name);
}

/** The result of `parse`. Throws `store_unavailable` if it throws TypeError: an unexpected reply is the store's failure. */
export function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw error instanceof TypeError ? new Refusal('store_unavailable', { cause: error.message }) : error;
  }
}

function fail(name: string): never {
  throw new TypeError(`unexpected value of the session field ${name}`);
}
