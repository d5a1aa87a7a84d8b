import t from 'tap';
import { startKeyAdministration } from '../support/administration/key-administration.ts';

const tooMany = (loc: string, most: number) => ({
  detail: [
    {
      type: 'too_long',
      loc: [loc],
      msg: `Dictionary should have at most ${most} items after validation, not more`,
      input: null,
      ctx: { field_type: 'Dictionary', max_length: most, actual_length: null },
    },
  ],
  code: 'validation_error',
});
const names = (count: number) => Array.from({ length: count }, (_, i) => i.toString(36));

t.test('more fields than any endpoint knows are one problem', async (t) => {
  const { api, asAdministrator, ask, call } = await startKeyAdministration(t);
  const form = (body: string) =>
    api.send({
      method: 'POST',
      path: '/api/login/access-token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body,
    });

  t.match(await form(names(12_000).join('&')), { status: 422, json: tooMany('body', 256) });
  t.match(await form(Array(32_000).fill('a').join('&')), { status: 422, json: tooMany('body', 256) });
  t.match(await form(`username=a&password=b&${names(254).join('&')}`), { status: 401 });

  t.match(await call('GET', `?${names(257).join('&')}`), { status: 422, json: tooMany('query', 256) });

  const members = Object.fromEntries(names(7_000).map((name) => [name, 0]));
  t.match(await ask(members, asAdministrator), { status: 422, json: tooMany('body', 1_024) });
  const activation = { method: 'POST', path: '/api/bootstrap/activate' };
  t.match(await api.send({ ...activation, json: { ...members, token: 'x' } }), {
    status: 422,
    json: tooMany('body', 1_024),
  });
  t.match(await ask({ label: 'many', scopes: names(5_000) }), { status: 422, json: tooMany('body', 1_024) });
});

t.test('at most 256 problems are reported', async (t) => {
  const { ask } = await startKeyAdministration(t);
  const { status, json } = await ask(Object.fromEntries(names(900).map((name) => [`x${name}`, 0])));
  t.equal(status, 422);
  t.equal(json.detail.length, 256);
});
