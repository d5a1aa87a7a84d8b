import t from 'tap';
import { keysPath, startKeyAdministration } from '../support/administration/key-administration.ts';
import { missing, noBoolean, problemsOf } from '../support/corpora/problems.ts';

const good = { label: 'a', scopes: ['store:read'] };

t.test('a body that is not a JSON object', async (t) => {
  const { api, asAdministrator } = await startKeyAdministration(t);
  const json = 'application/json';
  const notAnObject = (input: unknown) => ({
    type: 'model_attributes_type',
    loc: ['body'],
    msg: 'Input should be a valid dictionary or object to extract fields from',
    input,
  });
  const invalid = (offset: number, error: string) => ({
    type: 'json_invalid',
    loc: ['body', offset],
    msg: 'JSON decode error',
    input: {},
    ctx: { error },
  });
  const text = JSON.stringify(good);
  const rows: [string, string | undefined, string | Buffer, object][] = [
    ['no content type', undefined, text, notAnObject(text)],
    ['a form', 'application/x-www-form-urlencoded', 'label=a', notAnObject('label=a')],
    ['plain text', 'text/plain', text, notAnObject(text)],
    ['another charset', 'application/json; charset=utf-16', text, notAnObject(text)],
    ['an array', json, '[1]', notAnObject([1])],
    ['null', json, 'null', notAnObject(null)],
    ['an empty body', json, '', missing('body')],
    ['half an object', json, '{"label":"ä"', invalid(12, "Expecting ',' delimiter")],
    ['a duplicate member', json, '{"label":"a","label":"b"}', invalid(13, 'Duplicate property name')],
    [
      'bytes that are no UTF-8',
      json,
      Buffer.from('{"label":"\xff"}', 'latin1'),
      invalid(10, 'Invalid UTF-8'),
    ],
  ];
  for (const [name, type, body, problem] of rows) {
    const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
    const response = await api.send({ method: 'POST', path: keysPath, headers, body, ...asAdministrator });
    t.strictSame(problemsOf(response), [problem], name);
  }
  for (const type of ['application/json; charset=UTF-8', 'Application/vnd.api+json']) {
    const headers = { 'content-type': type };
    const response = await api.send({
      method: 'POST',
      path: keysPath,
      headers,
      body: text,
      ...asAdministrator,
    });
    t.equal(response.status, 201, type);
  }
});

t.test('a lone surrogate is refused in any string', async (t) => {
  const { api, asAdministrator } = await startKeyAdministration(t);
  const body = '{"label":"\\ud800","scopes":["\\udfff"]}';
  const headers = { 'content-type': 'application/json' };
  const response = await api.send({ method: 'POST', path: keysPath, headers, body, ...asAdministrator });
  const found = problemsOf(response).map(({ type, loc }) => [type, loc]);
  t.strictSame(found, [
    ['string_unicode', ['body', 'label']],
    ['string_unicode', ['body', 'scopes', 0]],
  ]);
});

t.test('query and body are judged together', async (t) => {
  const { api, asAdministrator } = await startKeyAdministration(t);
  const path = `${keysPath}?hydrate=maybe&unknown=1`;
  const response = await api.send({ method: 'POST', path, json: {}, ...asAdministrator });
  t.strictSame(problemsOf(response), [
    noBoolean(['query', 'hydrate'], 'maybe'),
    {
      type: 'extra_forbidden',
      loc: ['query', 'unknown'],
      msg: 'Extra inputs are not permitted',
      input: '1',
    },
    missing('body', 'label'),
    missing('body', 'scopes'),
  ]);
});
