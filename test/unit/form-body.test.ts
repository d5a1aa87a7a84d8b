import t from 'tap';
import { z } from 'zod';
import { ValidationError } from '../../src/errors.ts';
import { codePointString } from '../../src/input/pydantic-types.ts';
import { readForm } from '../../src/input/url-encoded.ts';

const form = 'application/x-www-form-urlencoded';
const schema = z.object({
  grant_type: codePointString({ pattern: /^password$/ }).optional(),
  username: codePointString(),
  password: codePointString(),
  scope: codePointString().default(''),
});
const read = (body: string, contentType: string | undefined = form) =>
  readForm(Buffer.from(body, 'latin1'), contentType, schema, { secret: ['password'] });
const problemsOf = (body: string, contentType?: string) => {
  try {
    read(body, contentType);
    return [];
  } catch (error) {
    if (error instanceof ValidationError) return error.problems;
    throw error;
  }
};

const missing = (name: string) => ({
  type: 'missing',
  loc: ['body', name],
  msg: 'Field required',
  input: null,
});
const wrong = (type: string, msg: string, name: string, input: unknown) => ({
  type,
  loc: ['body', name],
  msg,
  input,
});
const repeated = (name: string, input: unknown) =>
  wrong('string_type', 'Input should be a valid string', name, input);
const notUnicode = (name: string, input: unknown) =>
  wrong(
    'string_unicode',
    'Input should be a valid string, unable to parse raw data as a unicode string',
    name,
    input,
  );

const accepted = {
  'escapes are decoded, a plus is a space': ['username=J%C3%BC+%2B&password=%26', 'Jü +', '&'],
  'raw UTF-8 bytes are taken': ['username=\xc3\xbc&password=b', 'ü', 'b'],
  'a malformed escape stands for itself': ['username=%zz%4&password=100%', '%zz%4', '100%'],
  'only the first equals sign separates': ['username=a=b&password==', 'a=b', '='],
  'empty pairs are nothing': ['&&username=a&&password=b&', 'a', 'b'],
  'unknown fields are ignored, repeated or not': ['x=1&username=a&x=2&password=b&=&__proto__=1', 'a', 'b'],
  'a blank optional field is absent': ['username=a&password=b&grant_type=&scope=', 'a', 'b'],
  'white space is a value': ['username=+&password=%20', ' ', ' '],
  'a byte order mark belongs to the value': ['username=%EF%BB%BFa&password=b', '\ufeffa', 'b'],
} as const;

for (const [name, [body, username, password]] of Object.entries(accepted)) {
  t.test(name, async (t) => t.strictSame(read(body), { username, password, scope: '' }));
}

const refused = {
  'an empty body lacks every required field': ['', [missing('username'), missing('password')]],
  'a blank field is missing': ['username=&password', [missing('username'), missing('password')]],
  'problems come in the order of the schema': [
    'password=&username=a&username=b&grant_type=implicit',
    [
      {
        ...wrong(
          'string_pattern_mismatch',
          "String should match pattern '^password$'",
          'grant_type',
          'implicit',
        ),
        ctx: { pattern: '^password$' },
      },
      repeated('username', ['a', 'b']),
      missing('password'),
    ],
  ],
  'a repeated secret is not shown': ['username=a&password=b&password=c', [repeated('password', null)]],
  'a field repeated blank is repeated': ['username=&username=&password=b', [repeated('username', ['', ''])]],
  'a repeated field is one, escaped or not': [
    'username=a&%75sername=a&password=b',
    [repeated('username', ['a', 'a'])],
  ],
  'bytes that aren’t UTF-8 aren’t a string': [
    'username=a%FF&password=b',
    [notUnicode('username', 'a\udcff')],
  ],
  'a secret that isn’t UTF-8 is not shown': ['username=a&password=%C0%AF', [notUnicode('password', null)]],
} as const;

for (const [name, [body, problems]] of Object.entries(refused)) {
  t.test(name, async (t) => t.strictSame(problemsOf(body), problems));
}

for (const type of ['application/json', 'multipart/form-data; boundary=x', '', `${form}; charset=latin1`]) {
  t.test(`as "${type}" the body is not a form`, async (t) => {
    t.strictSame(problemsOf('username=a&password=b', type), [missing('username'), missing('password')]);
  });
}

t.test('without a content type the body is not a form', async (t) => {
  t.throws(() => readForm(Buffer.from('username=a&password=b'), undefined, schema), ValidationError);
});

t.test('a form may name its charset, when it is UTF-8', async (t) => {
  t.equal(read('username=a&password=b', `${form}; charset=UTF-8`).username, 'a');
});

t.test('a repeated field isn’t a string, even where one of a few words is expected', async (t) => {
  const words = z.object({ kind: z.enum(['a', 'b']) });
  const thrown = t.throws(() => readForm(Buffer.from('kind=a&kind=a'), form, words)) as ValidationError;
  t.strictSame(thrown.problems, [repeated('kind', ['a', 'a'])]);
});

t.test('a field named secret is not shown, whatever it is called', async (t) => {
  const codes = z.object({ code: codePointString({ max: 2 }) });
  const read = () => readForm(Buffer.from('code=hunter2'), form, codes, { secret: ['code'] });
  const thrown = t.throws(read) as ValidationError;
  t.match(thrown.problems, [{ type: 'string_too_long', input: null }]);
});
