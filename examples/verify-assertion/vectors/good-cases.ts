import {
  caller,
  forged,
  forgedBeside,
  instant,
  laterHeaders,
  type SentRequest,
  sent,
  withHeaders,
} from './request.ts';

/** Requests to one verifier, in turn. */
export interface Case {
  readonly name: string;
  readonly algorithm?: 'EdDSA' | 'ES256' | 'HS256';
  /** Epoch seconds; default: the moment of signing. */
  readonly now?: number;
  readonly requests: readonly SentRequest[];
  /** What the last of them is; the others are accepted. */
  readonly accepted: boolean;
}

const good = (name: string, ...requests: SentRequest[]): Case => ({ name, requests, accepted: true });

const algorithms = ['EdDSA', 'ES256', 'HS256'] as const;

const target = (text: string) => sent({ target: text });

/** An anonymous request as the listeners for other proxies describe it: every header there, and empty. */
const emptyHeaders = ['Subject', 'Username', 'Method', 'Scopes', 'Session-Id', 'Key-Id', 'Tenant'].map(
  (name) => [`X-Auth-${name}`, ''] as const,
);

/** What every verifier accepts. */
export const goodCases: readonly Case[] = [
  ...algorithms.map((algorithm) => ({
    ...good(`a session, by ${algorithm}`, sent({ algorithm })),
    algorithm,
  })),
  ...algorithms.map((algorithm) => ({
    ...good(`a POST, by ${algorithm}`, sent({ algorithm, method: 'POST' })),
    algorithm,
  })),
  good('an API key', sent({ principal: caller({ kind: 'api_key' }) })),
  good('a caller without scopes', sent({ principal: caller({ scopes: [] }) })),
  good(
    'a caller without scopes whose header is lost',
    withHeaders(sent({ principal: caller({ scopes: [] }) }), { 'X-Auth-Scopes': null }),
  ),
  good('a caller whose user was removed', sent({ principal: caller({ kind: 'api_key', username: null }) })),
  good('a name with escaped bytes', sent({ principal: caller({ username: 'Zoë 100%' }) })),
  good(
    'many scopes',
    sent({ principal: caller({ scopes: Array.from({ length: 60 }, (_, i) => `area${i}:read`) }) }),
  ),
  good('no credential', sent({ principal: null })),
  good('no credential, and every header empty', withHeaders(sent({ principal: null }), {}, emptyHeaders)),
  good('no credential, and a claim of no scopes', forged({ scope: '' }, { principal: null })),
  good('the root', target('/')),
  good('a path alone', target('/api/store/assets/17')),
  good('an empty query, as it was sent', target('/api/store/assets/17?')),
  good('an empty query, that a server has dropped', { ...target('/api/x?'), target: '/api/x' }),
  good('a query of a question mark', target('/api/x??')),
  good('a question mark in the query', target('/api/x?a=?&b=??')),
  good('escapes in path and query', target('/api/%E2%82%AC%20x?q=%26%2F&r=a+b%3F')),
  good('a path with reserved characters', target("/api/a:b@c;d=e,f!$&'()*+~_-.x")),
  good('a path that looks like another host', target('/http://other.example/')),
  good('a long target', target(`/api/${'a/'.repeat(300)}?${'q=1&'.repeat(300)}`)),
  ...['HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'].map((method) =>
    good(method, sent({ method })),
  ),
  ...['GET', 'HEAD', 'OPTIONS'].map((method) => good(`${method}, twice`, sent({ method }), sent({ method }))),
  good('two POSTs, each with its own', sent({ method: 'POST' }), sent({ method: 'POST', jti: 'jti-2' })),
  good(
    'the upgrade of a WebSocket',
    withHeaders(sent({ target: '/api/live' }), {}, [
      ['Connection', 'Upgrade'],
      ['Upgrade', 'websocket'],
    ]),
  ),
  good('names of headers in lower case', {
    ...sent(),
    headers: sent().headers.map(([name, value]) => [name.toLowerCase(), value] as const),
  }),
  good('names of headers in upper case', {
    ...sent(),
    headers: sent().headers.map(([name, value]) => [name.toUpperCase(), value] as const),
  }),
  good(
    'other headers, whatever they say',
    withHeaders(sent(), {}, [
      ['X-Request-Id', 'other'],
      ['X-Authenticated', 'yes'],
      ['X-Author', 'bob'],
      ['Authorization', 'Bearer x'],
    ]),
  ),
  { ...good('34 seconds later', sent()), now: instant + 34 },
  { ...good('signed by a clock 5 seconds ahead', sent({ signedAt: instant + 5 })) },
  good('a claim that is not known yet', forged({ future: { a: [1] } })),
  ...Object.entries(laterHeaders).map(([claim, name]) =>
    good(`${name} with its claim`, forgedBeside({ [claim]: 'a b' }, [name, 'a b'])),
  ),
  good(
    'all headers that may come later, with their claims',
    forgedBeside(
      Object.fromEntries(Object.keys(laterHeaders).map((claim) => [claim, `of ${claim}`])),
      ...Object.entries(laterHeaders).map(([claim, name]) => [name, `of ${claim}`] as const),
    ),
  ),
  good(
    'all headers that may come later, empty',
    forgedBeside({}, ...Object.values(laterHeaders).map((name) => [name, ''] as const)),
  ),
  good(
    'a header that is not known yet, with its claim',
    forgedBeside({ team_2_name: 'x' }, ['X-Auth-Team-2-Name', 'x']),
  ),
  good(
    'a header that is not known yet, in lower case',
    forgedBeside({ client_id: 'x' }, ['x-auth-client-id', 'x']),
  ),
  good(
    'a header that is not known yet, without a credential',
    withHeaders(forged({ issuer: 'https://other.example' }, { principal: null }), {}, [
      ['X-Auth-Issuer', 'https://other.example'],
    ]),
  ),
];
