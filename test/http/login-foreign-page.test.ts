import t from 'tap';
import { addUser } from '../support/administration/accounts.ts';
import { startTestGateway } from '../support/gateway/gateway.ts';

const path = '/api/login/access-token';
const username = 'grace';
const password = 'nanoseconds are this long';

t.test("a foreign page can't sign a user in, or use up attempts", async (t) => {
  const { api, folder, logLines } = await startTestGateway(t, {
    config: {
      cors: { origins: ['https://app.example.com'] },
      login_throttle: { per_account_and_address: 1, per_account: 1, per_address: 1 },
    },
  });
  await addUser(folder, { username, password });
  const post = (headers: Record<string, string>, form: object = { username, password }) =>
    api.send({ method: 'POST', path, form: { ...form }, headers });
  const foreign = {
    'a form of another site': {
      origin: 'https://evil.example',
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    },
    'a sandboxed form': { origin: 'null', 'sec-fetch-site': 'cross-site' },
    'a neighbouring host': { origin: 'https://wiki.example.com', 'sec-fetch-site': 'same-site' },
    'an old browser': { origin: 'https://evil.example' },
    'a page that hides where it is': { 'sec-fetch-site': 'cross-site' },
  };
  for (const [title, headers] of Object.entries(foreign))
    for (const form of [
      { username, password },
      { username, password: 'wrong' },
      { grant_type: 'no form at all' },
    ]) {
      const refused = await post(headers, form);
      t.match(refused, { status: 403, setCookies: [] }, title);
      t.same(
        { ...refused.json, request_id: '' },
        {
          detail: 'Cross-site request',
          code: 'cross_site',
          request_id: '',
          error: 'access_denied',
          error_description: 'Cross-site request',
        },
      );
    }
  t.equal(logLines().filter(({ event }) => event === 'login_failed').length, 0);
  const welcome: Record<string, string>[] = [
    {},
    { 'sec-fetch-site': 'same-origin', origin: 'https://acme.example.com' },
    { 'sec-fetch-site': 'cross-site', origin: 'https://app.example.com' },
    { origin: 'https://acme.example.com' },
  ];
  for (const headers of welcome) t.equal((await post(headers)).status, 200, JSON.stringify(headers));
});
