import t from 'tap';
import { startKeyAdministration } from '../support/administration/key-administration.ts';

const day = 24 * 60 * 60 * 1000;
const longestLife = { config: { api_keys: { max_lifetime: '30d' } } };
const inDays = (count: number) => new Date(Date.now() + count * day).toISOString();

t.test('a key without a requested expiry gets the maximum lifetime', async (t) => {
  const { mint } = await startKeyAdministration(t, longestLife);
  const { created, expires } = await mint();
  t.equal(Date.parse(expires) - Date.parse(created), 30 * day);
});

t.test('an expiry within the maximum lifetime is accepted', async (t) => {
  const { mint } = await startKeyAdministration(t, longestLife);
  const expires = inDays(29);
  t.equal((await mint({ expires })).expires, expires);
});

t.test('a later expiry is malformed, and reported with every other problem', async (t) => {
  const { ask } = await startKeyAdministration(t, longestLife);
  const expires = `${inDays(31).slice(0, 19)}+00:00`;
  const { status, json } = await ask({ scopes: [], expires, nope: 1 });
  t.equal(status, 422);
  t.strictSame(
    json.detail.map((problem: { type: string; loc: unknown }) => [problem.type, problem.loc]),
    [
      ['missing', ['body', 'label']],
      ['too_short', ['body', 'scopes']],
      ['less_than_equal', ['body', 'expires']],
      ['extra_forbidden', ['body', 'nope']],
    ],
  );
  const { input, ctx, msg } = json.detail[2];
  t.equal(input, expires, 'as it came');
  t.equal(msg, `Input should be less than or equal to ${ctx.le}`);
  t.ok(Math.abs(Date.parse(ctx.le) - Date.parse(inDays(30))) < 60_000);
});

t.test('a key without expiry is malformed', async (t) => {
  const { ask } = await startKeyAdministration(t, longestLife);
  const { status, json } = await ask({ label: '', scopes: ['store:read'], expires: null });
  t.equal(status, 422);
  t.match(json.detail, [
    { type: 'string_too_short', loc: ['body', 'label'] },
    {
      type: 'datetime_type',
      loc: ['body', 'expires'],
      msg: 'Input should be a valid datetime',
      input: null,
    },
  ]);
});

t.test('without a maximum lifetime a key may have no expiry', async (t) => {
  const { mint } = await startKeyAdministration(t);
  t.equal((await mint({ expires: null })).expires, null);
  t.equal((await mint()).expires, null);
});
