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
  /** Never sent on: hop-by-hop, an identity header, or an odd spelling of a header that Postern sets or judges. */
  dropped: 99,
} as const;

export type Meaning = (typeof meaning)[keyof typeof meaning];

/** Headers read by name, and what they mean. */
const judged: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ['host', meaning.host],
  ['content-length', meaning.contentLength],
  ['transfer-encoding', meaning.transferEncoding],
  ['connection', meaning.connection],
  ['expect', meaning.expect],
  ['upgrade', meaning.upgrade],
  ['authorization', meaning.authorization],
  ['x-api-key', meaning.apiKey],
  ['cookie', meaning.cookie],
  ['x-request-id', meaning.requestId],
  ['x-forwarded-for', meaning.forwardedFor],
  ['x-forwarded-proto', meaning.forwardedProto],
  ['x-forwarded-host', meaning.forwardedHost],
  ['traceparent', meaning.traceparent],
  ['tracestate', meaning.tracestate],
  ['origin', meaning.origin],
  ['content-type', meaning.contentType],
  ['sec-fetch-site', meaning.secFetchSite],
  ['sec-purpose', meaning.secPurpose],
  ['access-control-request-method', meaning.requestMethod],
  ['user-agent', meaning.userAgent],
  ['sec-websocket-protocol', meaning.webSocketProtocol],
]);

/** Names that are never sent on, whoever wrote them (RFC 9110 §7.6.1 and what upstreams wrongly trust). */
const droppedNames: ReadonlySet<string> = new Set([
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'proxy-authenticate',
  'proxy-authorization',
  'http2-settings',
  'proxy',
  'forwarded',
  'x-real-ip',
]);

const droppedPrefixes = ['x-auth-', 'x-forwarded-'] as const;

/** Hop-by-hop headers of an answer (RFC 9110 §7.6.1), in lower case. */
export const hopByHopOfAnswers: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Lower case, and every byte but letters and digits read as `-`: how servers that fold names (CGI, WSGI) see it. */
export function normalisedName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '-');
}

function classify(name: string): Meaning {
  const lower = name.toLowerCase();
  const normalised = normalisedName(name);
  const known = judged.get(normalised);
  if (known !== undefined) return lower === normalised ? known : meaning.dropped;
  if (droppedNames.has(normalised)) return meaning.dropped;
  for (const prefix of droppedPrefixes) if (normalised.startsWith(prefix)) return meaning.dropped;
  return meaning.plain;
}

/** Spellings remembered at the most: clients send a few dozen, an attacker any number. */
const rememberedSpellings = 4096;
const spellings = new Map<string, Meaning>();

/** What the header of that name means. */
export function meaningOf(name: string): Meaning {
  const seen = spellings.get(name);
  if (seen !== undefined) return seen;
  const found = classify(name);
  if (spellings.size < rememberedSpellings && name.length <= 64) spellings.set(name, found);
  return found;
}
