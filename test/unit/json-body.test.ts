import t from 'tap';
import { z } from 'zod';
import { ValidationError } from '../../src/errors.ts';
import { readJson } from '../../src/input/json-body.ts';
import { codePointString } from '../../src/input/pydantic-types.ts';

const schema = z.strictObject({ name: codePointString() });
const problemsOf = (body: string, contentType: string | undefined, secret?: string[]) => {
  try {
    readJson(Buffer.from(body), contentType, schema, { secret });
    return [];
  } catch (error) {
    if (error instanceof ValidationError) return error.problems;
    throw error;
  }
};
const notAnObject = (input: unknown) => ({
  type: 'model_attributes_type',
  loc: ['body'],
  msg: 'Input should be a valid dictionary or object to extract fields from',
  input,
});

for (const type of [
  'application/json',
  'Application/JSON',
  'application/json; charset=utf-8',
  'application/json;charset="UTF-8"; version=1',
  'application/merge-patch+json',
]) {
  t.test(`${type} is taken as JSON`, async (t) => {
    t.strictSame(readJson(Buffer.from('{"name":"a"}'), type, schema), { name: 'a' });
  });
}

for (const type of [
  undefined,
  '',
  'json',
  'text/json',
  'text/plain',
  'application/jsonp',
  'application/+json',
  'application/x-www-form-urlencoded',
  'application/json; charset=latin1',
]) {
  t.test(`the content type ${type} is a problem of the body as a whole`, async (t) => {
    t.strictSame(problemsOf('{"name":"a"}', type), [notAnObject('{"name":"a"}')]);
    t.strictSame(problemsOf('', type), [notAnObject('')]);
  });
}

t.test('a body of the wrong type is not shown by an endpoint that accepts secrets', async (t) => {
  t.strictSame(problemsOf('{"name":"a"}', 'text/plain', ['name']), [notAnObject(null)]);
  t.strictSame(problemsOf('["hunter2"]', 'application/json', ['name']), [notAnObject(null)]);
});

t.test('an empty body is missing', async (t) => {
  t.strictSame(problemsOf('', 'application/json'), [
    { type: 'missing', loc: ['body'], msg: 'Field required', input: null },
  ]);
});

for (const body of ['[]', 'null', '1', '"s"', '[{"name":"a"}]']) {
  t.test(`${body} has no fields`, async (t) => {
    t.same(problemsOf(body, 'application/json'), [notAnObject(JSON.parse(body))]);
  });
}

t.test('unknown members come in body order, also integer-like ones and __proto__', async (t) => {
  const problems = problemsOf('{"b":1,"2":2,"__proto__":3,"1":4}', 'application/json');
  t.strictSame(
    problems.map(({ type, loc, input }) => [type, loc[1], input]),
    [
      ['missing', 'name', null],
      ['extra_forbidden', 'b', 1],
      ['extra_forbidden', '2', 2],
      ['extra_forbidden', '__proto__', 3],
      ['extra_forbidden', '1', 4],
    ],
  );
});
