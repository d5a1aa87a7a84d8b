import t from 'tap';
import { missing, notAString } from '../support/corpora/problems.ts';
import { startTestGateway } from '../support/gateway/gateway.ts';

const path = '/api/login/access-token';
const urlEncoded = 'application/x-www-form-urlencoded';
const good = 'username=ada&password=correct+horse+battery';

const missingUsername = missing('body', 'username');
const missingPassword = missing('body', 'password');
const otherGrant = {
  type: 'string_pattern_mismatch',
  loc: ['body', 'grant_type'],
  msg: "String should match pattern '^password$'",
  input: 'client_credentials',
  ctx: { pattern: '^password$' },
};

const malformed: Record<
  string,
  { body?: string; type?: string; problems: object[]; error?: string; remedy?: true }
> = {
  'no body at all': { problems: [missingUsername, missingPassword] },
  'an empty form': { type: urlEncoded, body: '', problems: [missingUsername, missingPassword] },
  'a JSON body': {
    type: 'application/json',
    body: '{"username":"ada","password":"correct horse battery"}',
    remedy: true,
    problems: [missingUsername, missingPassword],
  },
  'a multipart body': {
    type: 'multipart/form-data; boundary=x',
    body: '--x\r\nContent-Disposition: form-data; name="username"\r\n\r\nada\r\n--x--\r\n',
    remedy: true,
    problems: [missingUsername, missingPassword],
  },
  'a form without a content type': {
    body: good,
    remedy: true,
    problems: [missingUsername, missingPassword],
  },
  'a form in another character set': {
    type: `${urlEncoded}; charset=latin1`,
    body: good,
    remedy: true,
    problems: [missingUsername, missingPassword],
  },
  'a blank user name': { type: urlEncoded, body: 'username=&password=x', problems: [missingUsername] },
  'a blank password': { type: urlEncoded, body: 'password=&username=ada', problems: [missingPassword] },
  'two blank user names': {
    type: urlEncoded,
    body: 'username=&username=&password=x',
    problems: [notAString(['body', 'username'], ['', ''])],
  },
  'a repeated user name': {
    type: urlEncoded,
    body: `${good}&username=eve`,
    problems: [notAString(['body', 'username'], ['ada', 'eve'])],
  },
  'a repeated password, whose values are not shown': {
    type: urlEncoded,
    body: `${good}&password=another+password`,
    problems: [notAString(['body', 'password'], null)],
  },
  'a repeated scope': {
    type: urlEncoded,
    body: `${good}&scope=a&scope=b`,
    problems: [notAString(['body', 'scope'], ['a', 'b'])],
  },
  'a repeated client secret': {
    type: urlEncoded,
    body: `${good}&client_secret=secret-number-1&client_secret=secret-number-2`,
    problems: [notAString(['body', 'client_secret'], null)],
  },
  'only another grant type': {
    type: urlEncoded,
    body: `${good}&grant_type=client_credentials`,
    problems: [otherGrant],
    error: 'unsupported_grant_type',
  },
  'a grant type in another case': {
    type: urlEncoded,
    body: `${good}&grant_type=Password`,
    problems: [{ ...otherGrant, input: 'Password' }],
    error: 'unsupported_grant_type',
  },
  'a grant type with a line feed': {
    type: urlEncoded,
    body: `${good}&grant_type=password%0A`,
    problems: [{ ...otherGrant, input: 'password\n' }],
    error: 'unsupported_grant_type',
  },
  'a repeated grant type': {
    type: urlEncoded,
    body: `${good}&grant_type=password&grant_type=password`,
    problems: [notAString(['body', 'grant_type'], ['password', 'password'])],
  },
  'another grant type and nothing else, in the order of the fields': {
    type: urlEncoded,
    body: 'scope=a&scope=b&grant_type=client_credentials',
    problems: [otherGrant, missingUsername, missingPassword, notAString(['body', 'scope'], ['a', 'b'])],
  },
  'bytes that are no UTF-8': {
    type: urlEncoded,
    body: 'username=%ff%fe&password=correct+horse',
    problems: [
      {
        type: 'string_unicode',
        loc: ['body', 'username'],
        msg: 'Input should be a valid string, unable to parse raw data as a unicode string',
        input: '\udcff\udcfe',
      },
    ],
  },
};

t.test('a malformed form is 422 with every problem, in the order of the fields', async (t) => {
  const { api } = await startTestGateway(t);
  for (const [title, { body, type, problems, error, remedy }] of Object.entries(malformed)) {
    const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
    const response = await api.send({ method: 'POST', path, body, headers });
    t.equal(response.status, 422, title);
    t.same(response.json.detail, problems, title);
    t.equal(response.json.code, 'validation_error', title);
    t.equal(response.json.error, error ?? 'invalid_request', title);
    const isForm = /^Send the fields as application\/x-www-form-urlencoded, in UTF-8$/.test(
      response.json.error_description,
    );
    t.equal(isForm, remedy === true, title);
    t.equal(response.json.request_id, response.headers['x-request-id']);
    t.notOk(response.headers['www-authenticate']);
  }
});

t.test('additional fields of OAuth clients are accepted', async (t) => {
  const { api } = await startTestGateway(t);
  const accepted = [
    `${good}&grant_type=password`,
    `${good}&grant_type=`,
    `${good}&client_id=app&client_secret=kept-by-the-app`,
    `${good}&resource=https%3A%2F%2Facme.example.com&resource=x`,
    `&&${good}&`,
  ];
  for (const body of accepted) {
    const headers = { 'content-type': 'Application/X-WWW-Form-URLEncoded; charset="UTF-8"' };
    const response = await api.send({ method: 'POST', path, body, headers });
    t.equal(response.status, 401, `judged: ${body}`);
  }
});
