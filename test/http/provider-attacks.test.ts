import t from 'tap';
import { addUser } from '../support/administration/accounts.ts';
import type { ApiRequest, ApiResponse } from '../support/clients/api-client.ts';
import { encode, foreign, forge, header, signSegments } from '../support/corpora/forged-assertions.ts';
import { refusedAtOnce, refusedByKey } from '../support/corpora/refused-assertions.ts';
import { administrator, bootstrapToken } from '../support/gateway/gateway.ts';
import { startStubSignIn } from '../support/servers/stub-sign-in.ts';

const stage = await startStubSignIn(t);
const { gateway, assertion, begin, claims, exchange, request } = stage;

/** One start, for all of them: only what the name says is wrong with a row. */
const mine = await begin();
const { cookie, nonce } = mine;
const good = assertion({ nonce });

const theirs = await begin();
const elsewhere = await begin('other', cookie);
await gateway.api.activate(administrator.username, administrator.password, bootstrapToken);
const namesake = { username: 'alice-1', password: 'a long enough password', scopes: ['store:read'] };
await addUser(gateway.folder, namesake);
const ours = await gateway.api.signIn(administrator.username, administrator.password);
const key = await gateway.api.mintKey(ours.accessToken, { label: 'k', scopes: ['store:read'] });

const path = '/api/login/idp/exchange';
const form = (body: string, more: object = {}): ApiRequest => ({
  method: 'POST',
  path,
  cookie,
  body,
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  ...more,
});
const json = JSON.stringify(claims({ nonce }));
const deep = `${'{"a":'.repeat(4_000)}1${'}'.repeat(4_000)}`;

/** What is wrong is not the assertion alone. */
const requests: Record<string, readonly [status: number, request: ApiRequest]> = {
  // Nonce and browser.
  'no nonce': [401, request(assertion(), cookie)],
  'an empty nonce': [401, request(assertion({ nonce: '' }), cookie)],
  'a nonce that was never issued': [401, request(assertion({ nonce: 'n' }), cookie)],
  'the state as nonce': [401, request(assertion({ nonce: mine.state }), cookie)],
  'a nonce with its last character cut off': [401, request(assertion({ nonce: nonce.slice(0, -1) }), cookie)],
  'a nonce with a character changed': [
    401,
    request(assertion({ nonce: `${nonce.startsWith('A') ? 'B' : 'A'}${nonce.slice(1)}` }), cookie),
  ],
  'a nonce of two starts': [401, request(assertion({ nonce: nonce + theirs.nonce }), cookie)],
  'the nonce of another browser': [401, request(assertion({ nonce: theirs.nonce }), cookie)],
  'the nonce of a start at another provider': [401, request(assertion({ nonce: elsewhere.nonce }), cookie)],
  'a valid assertion in another browser': [401, request(good, theirs.cookie)],
  'a valid assertion without the cookie': [401, request(good)],
  'a valid assertion with the value of another start': [
    401,
    request(good, `${cookie.split('=')[0]}=${theirs.cookie.split('=')[1]}`),
  ],
  'a valid assertion with a longer cookie': [401, request(good, `${cookie}A`)],
  'a valid assertion with the cookie under another name': [
    401,
    request(good, cookie.replace(/_login_.{6}=/, '_login=')),
  ],
  'a valid assertion at another provider': [401, request(good, cookie, 'other')],
  'a valid assertion where a code is expected': [422, request(good, cookie, 'codes')],
  'another browser’s, even where unsolicited ones are accepted': [
    401,
    request(assertion({ nonce: theirs.nonce }), cookie, 'open'),
  ],
  // Another token in its place.
  'an access token of this gateway': [401, request(ours.accessToken, cookie)],
  'a refresh cookie of this gateway': [401, request(ours.cookie.split('=')[1]!, cookie)],
  'an API key of this gateway': [401, request(key.key, cookie)],
  'the nonce itself': [401, request(nonce, cookie)],
  'claims of a valid one signed by another key': [
    401,
    request(forge(header, claims({ nonce }), foreign), cookie),
  ],
  'objects nested thousands deep': [
    401,
    request(signSegments(encode(JSON.stringify(header)), encode(deep), foreign), cookie),
  ],
  'a header nested thousands deep': [401, request(signSegments(encode(deep), encode(json), foreign), cookie)],
  // Parameters.
  'the assertion twice': [422, form(`assertion=${good}&assertion=${good}`)],
  'a valid one after an invalid one': [422, form(`assertion=x&assertion=${good}`)],
  'the assertion twice in the query': [422, { path: `${path}?assertion=${good}&assertion=${good}`, cookie }],
  'a valid one in the query of a POST': [422, form('', { path: `${path}?assertion=${good}` })],
  'the parameter as a list': [422, form(`assertion[]=${good}`)],
  'the parameter in upper case': [422, form(`ASSERTION=${good}`)],
  'a blank one': [422, form('assertion=')],
  'a code': [422, form('code=c&state=s')],
  JSON: [422, form(JSON.stringify({ assertion: good }), { headers: { 'content-type': 'application/json' } })],
  'a valid one followed by a NUL': [401, form(`assertion=${good}%00`)],
  // Size and method.
  'a target of 64 KiB and more': [414, { path: `${path}?assertion=${'A'.repeat(66_000)}`, cookie }],
  'a body of 64 KiB and more': [413, form(`assertion=${'A'.repeat(66_000)}`)],
  'fifty thousand characters in the query': [
    401,
    { path: `${path}?assertion=${'A'.repeat(50_000)}`, cookie },
  ],
  'ten thousand parameters': [422, form('a=&'.repeat(10_000))],
  HEAD: [405, { method: 'HEAD', path: `${path}?assertion=${good}`, cookie }],
  PUT: [405, form(`assertion=${good}`, { method: 'PUT' })],
};

const otherStatus: Record<string, number> = {
  'the empty text': 422,
  'a megabyte of dots': 413,
  'an assertion too long': 413,
};
const assertions = { ...refusedAtOnce(claims({ nonce })), ...refusedByKey(claims({ nonce })) };
const attacks: Record<string, readonly [number, ApiRequest]> = {
  ...requests,
  ...Object.fromEntries(
    Object.entries(assertions).map(([name, text]) => [
      name,
      [otherStatus[name] ?? 401, request(text, cookie)] as const,
    ]),
  ),
};

for (const [name, [status, sent]] of Object.entries(attacks))
  t.test(`refused: ${name}`, async (t) => {
    const response = await gateway.api.send(sent);
    t.equal(response.status, status);
    if (status === 401) t.equal(response.json.code, 'invalid_assertion');
    t.equal(response.headers['referrer-policy'], 'no-referrer');
    t.strictSame(response.setCookies, [], 'no cookie is set or cleared');
  });

t.test('none of them consumed the start, which is still valid: once', async (t) => {
  const { status, json } = await exchange(good, cookie);
  t.equal(status, 200);
  t.equal(json.scope, '', 'and is not the local user of that name');
  t.equal((await exchange(good, cookie)).status, 401);
  t.equal((await exchange(assertion({ nonce, sub: 'bob' }), cookie)).status, 401, 'nor with its nonce');
});

t.test('a start that is over', async (t) => {
  const begun = await begin();
  gateway.advance(600_000);
  const iat = Math.floor(Date.now() / 1000) + 600;
  const late = assertion({ nonce: begun.nonce, iat, exp: iat + 300 });
  t.equal((await exchange(late, begun.cookie)).status, 401);
  gateway.advance(-600_000);
});

const statuses = (responses: readonly ApiResponse[]) => responses.map(({ status }) => status).sort();

t.test(
  'a single one of twenty parallel exchanges of an assertion succeeds, and none after a restart',
  async (t) => {
    const begun = await begin();
    const unspent = await begin();
    const started = assertion({ nonce: begun.nonce });
    const unsolicited = assertion({ jti: 'once' });
    const exchanges = [() => exchange(started, begun.cookie), () => exchange(unsolicited, undefined, 'open')];
    for (const send of exchanges) {
      const responses = await Promise.all(Array.from({ length: 20 }, send));
      t.strictSame(statuses(responses), [200, ...Array(19).fill(401)]);
    }
    const again = await stage.restart();
    t.equal((await again.exchange(started, begun.cookie)).status, 401);
    t.equal((await again.exchange(unsolicited, undefined, 'open')).status, 401);
    t.equal(
      (await again.exchange(again.assertion({ jti: 'once', sub: 'bob' }), undefined, 'open')).status,
      401,
    );
    t.equal((await again.exchange(again.assertion({ nonce: unspent.nonce }), unspent.cookie)).status, 200);
  },
);
