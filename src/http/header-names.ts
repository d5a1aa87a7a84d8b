import { keptText } from '../http1/copied-text.ts';
import {
  droppedNames,
  droppedPrefixes,
  type JudgedName,
  judgedNames,
  methodOverrideNames,
  normalisedName,
} from '../rules/known-headers.ts';

/**
 * What a header's name means to Postern. Names are classified once per spelling: the request path then costs one
 * map look-up a header instead of a comparison with every name that matters.
 */
export const meaning = {
  /** Nothing: it passes as it stands. */
  plain: 0,
  host: 1,
  contentLength: 2,
  transferEncoding: 3,
  connection: 4,
  expect: 5,
  upgrade: 6,
  authorization: 7,
  apiKey: 8,
  cookie: 9,
  requestId: 10,
  forwardedFor: 11,
  forwardedProto: 12,
  forwardedHost: 13,
  traceparent: 14,
  origin: 15,
  contentType: 16,
  secFetchSite: 17,
  secPurpose: 18,
  requestMethod: 19,
  userAgent: 20,
  webSocketProtocol: 21,
  tracestate: 22,
  /** Asks the application to take the request for one of another method. */
  methodOverride: 97,
  /** Holds a character other than letters, digits and `-`, and is no spelling of a name that means something. */
  odd: 98,
  /** Never sent on: hop-by-hop, an identity header, or an odd spelling of a header that Postern sets or judges. */
  dropped: 99,
} as const;

export type Meaning = (typeof meaning)[keyof typeof meaning];

/** Headers read by name, and what they mean. */
const meaningByName: Readonly<Record<JudgedName, Meaning>> = {
  host: meaning.host,
  'content-length': meaning.contentLength,
  'transfer-encoding': meaning.transferEncoding,
  connection: meaning.connection,
  expect: meaning.expect,
  upgrade: meaning.upgrade,
  authorization: meaning.authorization,
  'x-api-key': meaning.apiKey,
  cookie: meaning.cookie,
  'x-request-id': meaning.requestId,
  'x-forwarded-for': meaning.forwardedFor,
  'x-forwarded-proto': meaning.forwardedProto,
  'x-forwarded-host': meaning.forwardedHost,
  traceparent: meaning.traceparent,
  tracestate: meaning.tracestate,
  origin: meaning.origin,
  'content-type': meaning.contentType,
  'sec-fetch-site': meaning.secFetchSite,
  'sec-purpose': meaning.secPurpose,
  'access-control-request-method': meaning.requestMethod,
  'user-agent': meaning.userAgent,
  'sec-websocket-protocol': meaning.webSocketProtocol,
};
const judged: ReadonlyMap<string, Meaning> = new Map(judgedNames.map((name) => [name, meaningByName[name]]));

/** Hop-by-hop headers of a response (RFC 9110 §7.6.1), in lower case. */
export const hopByHopOfResponses: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

function classify(name: string): Meaning {
  const lower = name.toLowerCase();
  const normalised = normalisedName(name);
  const known = judged.get(normalised);
  if (known !== undefined) return lower === normalised ? known : meaning.dropped;
  if (droppedNames.has(normalised)) return meaning.dropped;
  for (const prefix of droppedPrefixes) if (normalised.startsWith(prefix)) return meaning.dropped;
  if (methodOverrideNames.has(normalised))
    return lower === normalised ? meaning.methodOverride : meaning.dropped;
  return lower === normalised ? meaning.plain : meaning.odd;
}

/** Spellings remembered at the most: clients send a few dozen, an attacker any number. */
const rememberedSpellings = 4096;

function remember(judge: (name: string) => Meaning): (name: string) => Meaning {
  const spellings = new Map<string, Meaning>();
  return (name) => {
    const seen = spellings.get(name);
    if (seen !== undefined) return seen;
    const found = judge(name);
    if (spellings.size < rememberedSpellings && name.length <= 64) spellings.set(keptText(name), found);
    return found;
  };
}

/** What the header of that name means, whatever the configuration says. */
export const meaningOf: (name: string) => Meaning = remember(classify);

/** What of `headers` and of the upstreams' `identity_headers` decides about a client's headers. */
export interface HeaderRules {
  /** Let names with other characters than letters, digits and `-` through that are no spelling of a judged one. */
  readonly passOddNames: boolean;
  readonly passMethodOverride: boolean;
  /** Names that never pass, in any spelling. */
  readonly dropped: readonly string[];
}

/** What a client's header of that name means on its way to an upstream: of what isn't judged, `plain` or `dropped`. */
export type PassedMeaning = (name: string) => Meaning;

/** Builds the reading of names by one configuration; it too costs one map look-up a header. */
export function createPassedMeaning(rules: HeaderRules): PassedMeaning {
  const never: ReadonlySet<string> = new Set(rules.dropped.map(normalisedName));
  return remember((name) => {
    if (never.has(normalisedName(name))) return meaning.dropped;
    const what = classify(name);
    if (what === meaning.odd) return rules.passOddNames ? meaning.plain : meaning.dropped;
    if (what === meaning.methodOverride) return rules.passMethodOverride ? meaning.plain : meaning.dropped;
    return what;
  });
}
