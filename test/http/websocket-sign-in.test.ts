import t from 'tap';
import { WebSocket } from 'ws';
import {
  frontOrigin as front,
  type Handshake,
  openWebSocket,
  startWebSocketGateway as start,
  tryWebSocket,
} from '../support/servers/web-sockets.ts';

const live = '/api/store/live';
const self = 'https://acme.example.com';

/** A handshake as a browser makes it. */
const offering = (origin: string | undefined, ...protocols: string[]): Handshake =>
  origin === undefined ? { protocols } : { protocols, origin };

t.test('a WebSocket is signed in as any request is, before the upstream hears of it', async (t) => {
  const { port, key, bearer, keyId, sockets } = await start(t);
  const rows: Record<string, [headers: Record<string, string>, status: number]> = {
    'no credential': [{}, 401],
    'a bad key': [{ 'X-API-Key': `${key.slice(0, -1)}!` }, 401],
    'a bad token': [{ Authorization: `Bearer ${bearer}x` }, 401],
    'key and token': [{ 'X-API-Key': key, Authorization: `Bearer ${bearer}` }, 400],
    'a token only in the query': [{ Cookie: 'a=b' }, 401],
  };
  for (const [name, [headers, status]] of Object.entries(rows))
    t.match(await tryWebSocket(port, `${live}?access_token=${bearer}`, { headers }), { status }, name);
  t.equal(sockets.accepted.length, 0);

  (await openWebSocket(port, live, { headers: { 'X-API-Key': key } })).close();
  (await openWebSocket(port, live, { headers: { Authorization: `Bearer ${bearer}` } })).close();
  const [byKey, byToken] = sockets.accepted.map(({ request }) => request.headers);
  t.match(byKey, { 'x-auth-method': 'api_key', 'x-auth-key-id': keyId, 'x-auth-tenant': 'acme' });
  t.match(byToken, { 'x-auth-method': 'session', 'x-auth-username': 'ada' });
  t.notMatch(byKey, { 'x-api-key': String });
  t.notMatch(byToken, { authorization: String });
});

t.test('a key without the scope gets no WebSocket', async (t) => {
  const { port, api, bearer, sockets } = await start(t);
  const { key } = await api.mintKey(bearer, { label: 'narrow', scopes: ['store:write'] });
  t.match(await tryWebSocket(port, live, { headers: { 'X-API-Key': key } }), { status: 403 });
  t.equal(sockets.accepted.length, 0);
});

t.test('a browser offers its token as a subprotocol, from an origin that may', async (t) => {
  const { port, bearer, key, sockets } = await start(t);
  const token = `postern.bearer.${bearer}`;
  const refused: Record<string, [Handshake, number, string]> = {
    'no origin': [offering(undefined, token), 403, 'cross_site'],
    'a foreign origin': [offering('https://evil.example', token), 403, 'cross_site'],
    'the origin null': [offering('null', token), 403, 'cross_site'],
    'the own host over http': [offering('http://acme.example.com', token), 403, 'cross_site'],
    'an origin that begins like a known one': [offering(`${front}.evil.example`, token), 403, 'cross_site'],
    'a bad token': [offering(front, `${token}x`), 401, 'invalid_token'],
    'a key instead of the token': [offering(front, `postern.bearer.${key}`), 401, 'invalid_token'],
    'the spelling of another protocol': [
      offering(front, `Postern.bearer.${bearer}`),
      401,
      'not_authenticated',
    ],
    'an Authorization header as well': [
      { ...offering(front, token), headers: { Authorization: `Bearer ${bearer}` } },
      400,
      'ambiguous_credentials',
    ],
    'an API key as well': [
      { ...offering(front, token), headers: { 'X-API-Key': key } },
      400,
      'ambiguous_credentials',
    ],
    'two tokens': [offering(front, token, `postern.bearer.x${bearer}`), 400, 'ambiguous_credentials'],
  };
  for (const [name, [handshake, status, code]] of Object.entries(refused)) {
    const response = await tryWebSocket(port, live, handshake);
    t.notOk(response instanceof WebSocket, name);
    t.match(response, { status, text: new RegExp(`"code":"${code}"`) }, name);
  }
  t.equal(sockets.accepted.length, 0);
  for (const origin of [front, self]) {
    const socket = await openWebSocket(port, live, offering(origin, 'postern', token));
    t.equal(socket.protocol, 'postern', 'browsers require one of their offers to be chosen');
    socket.close();
    t.match(sockets.accepted.at(-1)!.request.headers, { 'x-auth-method': 'session', origin });
  }
});

t.test('the same token twice is as ambiguous as two', async (t) => {
  const { port, bearer, sockets } = await start(t);
  const offer = `postern.bearer.${bearer}, postern.bearer.${bearer}`;
  const headers = { 'Sec-WebSocket-Protocol': offer, Origin: front };
  t.match(await tryWebSocket(port, live, { headers }), { status: 400 });
  t.equal(sockets.accepted.length, 0);
});

t.test('the upstream sees the offer without Postern’s part, and its choice counts', async (t) => {
  const choose = (offered: Set<string>) => offered.has('chat.v2') && 'chat.v2';
  const { port, bearer, sockets } = await start(t, { choose });
  const token = `postern.bearer.${bearer}`;
  const rows: [offer: string[], seen: string | undefined, chosen: string][] = [
    [['postern', token], undefined, 'postern'],
    [['postern', token, 'chat.v2'], 'chat.v2', 'chat.v2'],
    [['chat.v1', token, 'postern', 'chat.v2'], 'chat.v1, chat.v2', 'chat.v2'],
    [['chat.v1', token, 'postern'], 'chat.v1', 'postern'],
  ];
  for (const [offer, seen, chosen] of rows) {
    const socket = await openWebSocket(port, live, offering(front, ...offer));
    t.equal(sockets.accepted.at(-1)!.request.headers['sec-websocket-protocol'], seen, offer.join());
    t.equal(socket.protocol, chosen, offer.join());
    socket.close();
  }
});

t.test('nothing is chosen that was not offered', async (t) => {
  const { port, key } = await start(t);
  const headers = { 'X-API-Key': key };
  t.equal((await openWebSocket(port, live, { headers })).protocol, '');
  const offered = await openWebSocket(port, live, { headers, protocols: ['postern'] });
  t.equal(offered.protocol, 'postern');
});

t.test('a public route needs no credential, but a given one must be valid', async (t) => {
  const { port, bearer, sockets } = await start(t);
  const token = `postern.bearer.${bearer}`;
  (await openWebSocket(port, '/api/open/live')).close();
  t.notMatch(sockets.accepted.at(-1)!.request.headers, { 'x-auth-subject': String });
  (await openWebSocket(port, '/api/open/live', offering(front, token, 'postern'))).close();
  t.match(sockets.accepted.at(-1)!.request.headers, { 'x-auth-username': 'ada' });
  t.match(await tryWebSocket(port, '/api/open/live', offering(front, `${token}x`)), { status: 401 });
  t.match(await tryWebSocket(port, '/api/open/live', offering('https://evil.example', token)), {
    status: 403,
  });
});
