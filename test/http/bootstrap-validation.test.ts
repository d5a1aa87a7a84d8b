import t from 'tap';
import { extra, missing, notAString, tooShortText, valueError } from '../support/corpora/problems.ts';
import { administrator, bootstrapToken, startTestGateway } from '../support/gateway/gateway.ts';

const path = '/api/bootstrap/activate';
const { username, password } = administrator;
const good = { token: bootstrapToken, username, password };

const tooLong = (field: string, max: number, input: string | null) => ({
  type: 'string_too_long',
  loc: ['body', field],
  msg: `String should have at most ${max} characters`,
  input,
  ctx: { max_length: max },
});

const malformed: Record<string, { json: object; problems: object[] }> = {
  nothing: { json: {}, problems: ['token', 'username', 'password'].map((name) => missing('body', name)) },
  'a token that is not a string': {
    json: { ...good, token: [bootstrapToken] },
    problems: [notAString(['body', 'token'], null)],
  },
  'a field too many before a blank name, in the order of the fields': {
    json: { extra: 1, ...good, username: '  ' },
    problems: [tooShortText(['body', 'username'], '  '), extra(['body', 'extra'], 1)],
  },
  'a short password': {
    json: { ...good, password: 'short one' },
    problems: [
      {
        type: 'string_too_short',
        loc: ['body', 'password'],
        msg: 'String should have at least 12 characters',
        input: null,
        ctx: { min_length: 12 },
      },
    ],
  },
  'a name too long': {
    json: { ...good, username: 'x'.repeat(129) },
    problems: [tooLong('username', 128, 'x'.repeat(129))],
  },
  'a password of more than 1,024 bytes': {
    json: { ...good, password: 'ä'.repeat(513) },
    problems: [tooLong('password', 1024, null)],
  },
  'a name with a control character': {
    json: { ...good, username: 'a\u0000b' },
    problems: [valueError(['body', 'username'], 'must not contain control characters', 'a\u0000b')],
  },
};

t.test(
  'a malformed activation is 422 with every problem, and shows neither token nor password',
  async (t) => {
    const { api } = await startTestGateway(t);
    for (const [title, { json, problems }] of Object.entries(malformed)) {
      const response = await api.send({ method: 'POST', path, json });
      t.equal(response.status, 422, title);
      t.same(response.json.detail, problems, title);
    }
    t.equal(
      (await api.activate(username, password, bootstrapToken)).status,
      201,
      'none of it was an attempt',
    );
  },
);

t.test('a body that is not JSON is 422', async (t) => {
  const { api } = await startTestGateway(t);
  const body = JSON.stringify(good);
  const json = { 'content-type': 'application/json' };
  const problemOf = async (text: string, headers = {}) => {
    const { status, json } = await api.send({ method: 'POST', path, body: text, headers });
    return { status, problem: json.detail[0], count: json.detail.length };
  };
  const notRead = { type: 'model_attributes_type', loc: ['body'], input: null };
  t.match(await problemOf(body), { status: 422, problem: notRead, count: 1 }, 'no content type');
  t.match(await problemOf(body, { 'content-type': 'text/plain' }), { status: 422, problem: notRead });
  const invalid = { type: 'json_invalid', loc: ['body', body.length] };
  t.match(await problemOf(`${body}x`, json), { status: 422, problem: invalid });
  t.match(await problemOf('', json), { status: 422, problem: { type: 'missing', loc: ['body'] } });
  const twice = `{"token":"x",${body.slice(1)}`;
  t.match(
    await problemOf(twice, json),
    { status: 422, problem: { type: 'json_invalid' } },
    'a duplicate token',
  );
});
