import { setCookieName } from '../http/cookies.ts';
import { hopByHopOfAnswers, normalisedName } from '../http/header-names.ts';

/** What decides which headers of an upstream's answer reach the client. */
export interface AnswerRules {
  /** Names of Postern's own cookies: an upstream can't set them. */
  readonly ownCookies: readonly string[];
  /** Postern owns `Access-Control-*`. */
  readonly ownsCors: boolean;
}

const kind = {
  plain: 0,
  dropped: 1,
  setCookie: 2,
  cacheControl: 3,
  cors: 4,
  connection: 5,
  contentLength: 6,
} as const;
type Kind = (typeof kind)[keyof typeof kind];

function classify(name: string): Kind {
  const lower = name.toLowerCase();
  if (lower === 'connection') return kind.connection;
  if (hopByHopOfAnswers.has(lower) || lower === 'x-request-id') return kind.dropped;
  if (lower === 'set-cookie') return kind.setCookie;
  if (lower === 'cache-control') return kind.cacheControl;
  if (lower === 'content-length') return kind.contentLength;
  return lower.startsWith('access-control-') ? kind.cors : kind.plain;
}

const rememberedSpellings = 4096;
const spellings = new Map<string, Kind>();

function kindOf(name: string): Kind {
  const seen = spellings.get(name);
  if (seen !== undefined) return seen;
  const found = classify(name);
  if (spellings.size < rememberedSpellings) spellings.set(name, found);
  return found;
}

/** The head of an answer as it goes to the client. */
export interface AnswerHead {
  /** Names and values in turn. */
  readonly headers: string[];
  /** Bytes the body is said to have; -1 when it isn't said. */
  readonly contentLength: number;
}

/**
 * Cleans an upstream's answer: hop-by-hop headers, `X-Request-Id` and Postern's own cookies go; an answer to an
 * authenticated request that says nothing of caching becomes private.
 */
export function answerHead(
  raw: readonly (Buffer | string)[],
  requestId: string,
  authenticated: boolean,
  rules: AnswerRules,
): AnswerHead {
  const headers = ['X-Request-Id', requestId];
  let contentLength = -1;
  let saysCaching = false;
  let listed: string[] | null = null;
  for (let i = 0; i < raw.length; i += 2) {
    const name = text(raw[i]!);
    const value = text(raw[i + 1]!);
    switch (kindOf(name)) {
      case kind.dropped:
        continue;
      case kind.connection:
        if (value !== 'keep-alive' && value !== 'close') listed = [...(listed ?? []), ...value.split(',')];
        continue;
      case kind.setCookie:
        if (rules.ownCookies.includes(setCookieName(value))) continue;
        break;
      case kind.cors:
        if (rules.ownsCors) continue;
        break;
      case kind.cacheControl:
        saysCaching = true;
        break;
      case kind.contentLength:
        contentLength = Number(value);
        break;
    }
    headers.push(name, value);
  }
  if (authenticated && !saysCaching) headers.push('Cache-Control', 'private');
  return { headers: listed === null ? headers : withoutListed(headers, listed), contentLength };
}

function text(part: Buffer | string): string {
  return typeof part === 'string' ? part : part.toString('latin1');
}

function withoutListed(headers: readonly string[], listed: readonly string[]): string[] {
  const names = new Set(listed.map((name) => normalisedName(name.trim())));
  // What frames the body and what Postern itself says stays, whatever `Connection` claims.
  for (const kept of ['content-length', 'x-request-id', 'cache-control', 'set-cookie']) names.delete(kept);
  const left: string[] = [];
  for (let i = 0; i < headers.length; i += 2)
    if (!names.has(normalisedName(headers[i]!))) left.push(headers[i]!, headers[i + 1]!);
  return left;
}
