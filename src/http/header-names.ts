import { cachedByName } from '../http1/message/name-cache.ts';
import {
  droppedNames,
  droppedPrefixes,
  judgedNames,
  methodOverrideNames,
  normalisedName,
  toolParameterPrefix,
} from '../rules/known-headers.ts';

/** Meanings of header names to Postern. A name is classified once per spelling: each header then costs one map look-up. */
export const meaning = {
  /** No meaning: the header passes unchanged. */
  plain: 0,
  host: 1,
  'content-length': 2,
  'transfer-encoding': 3,
  connection: 4,
  expect: 5,
  upgrade: 6,
  authorization: 7,
  'x-api-key': 8,
  cookie: 9,
  'x-request-id': 10,
  'x-forwarded-for': 11,
  'x-forwarded-proto': 12,
  'x-forwarded-host': 13,
  traceparent: 14,
  origin: 15,
  'content-type': 16,
  'sec-fetch-site': 17,
  'sec-purpose': 18,
  'access-control-request-method': 19,
  'user-agent': 20,
  'sec-websocket-protocol': 21,
  tracestate: 22,
  'sec-fetch-mode': 23,
  'sec-fetch-dest': 24,
  accept: 25,
  'service-worker': 26,
  /** Asks the application to treat the request as if it had another method. */
  methodOverride: 27,
  /** Has a character other than letters, digits and `-`, but is no variant of a name that Postern knows. */
  odd: 28,
  /** An `Mcp-Param-*` header with an odd name: it passes, unless servers could take another header for the same one. */
  oddToolParameter: 30,
  'postern-via': 31,
  /** Never forwarded: hop-by-hop, an identity header, or an odd spelling of a header that Postern sets or checks. */
  dropped: 29,
} as const;

export type Meaning = (typeof meaning)[keyof typeof meaning];

const judged: ReadonlyMap<string, Meaning> = new Map(judgedNames.map((name) => [name, meaning[name]]));

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
  if (lower === normalised) return meaning.plain;
  return lower.startsWith(toolParameterPrefix) ? meaning.oddToolParameter : meaning.odd;
}

/** Returns the meaning of a header's name, independently of the configuration. */
export const meaningOf: (name: string) => Meaning = cachedByName(classify);

/** Settings of `headers` and of upstreams that decide which of a client's headers are forwarded. */
export interface HeaderRules {
  readonly passOddNames: boolean;
  readonly passMethodOverride: boolean;
  /** Names that never pass, in any spelling. */
  readonly dropped: readonly string[];
  /** Names with the prefix of identity headers that are an application's own, and pass as they are spelled; default: none. */
  readonly passed?: readonly string[];
}

/** Returns the meaning of a client's header name for forwarding, as the configuration decides it. */
export type PassedMeaning = (name: string) => Meaning;

/** Creates the function that classifies names under one configuration, again by one map look-up for each header. */
export function createPassedMeaning(rules: HeaderRules): PassedMeaning {
  const never: ReadonlySet<string> = new Set(rules.dropped.map(normalisedName));
  const passed: ReadonlySet<string> = new Set(rules.passed?.map((name) => name.toLowerCase()));
  return cachedByName((name) => {
    if (never.has(normalisedName(name))) return meaning.dropped;
    if (passed.has(name.toLowerCase())) return meaning.plain;
    const what = classify(name);
    if (what === meaning.oddToolParameter) return meaning.plain;
    if (what === meaning.odd) return rules.passOddNames ? meaning.plain : meaning.dropped;
    if (what === meaning.methodOverride) return rules.passMethodOverride ? meaning.plain : meaning.dropped;
    return what;
  });
}
