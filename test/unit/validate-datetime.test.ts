import t from 'tap';
import { z } from 'zod';
import { ValidationError } from '../../src/errors.ts';
import { rfc3339 } from '../../src/input/pydantic-datetime.ts';
import { validate } from '../../src/input/validate.ts';

const now = Date.UTC(2026, 10, 21, 9, 30);
const schema = z.object({
  at: rfc3339().optional(),
  expires: rfc3339({ future: () => now }).nullish(),
  ends: rfc3339({ latest: () => now + 24 * 60 * 60 * 1000 }).optional(),
});
const problemOf = (input: object) => {
  try {
    validate(schema, input, { loc: 'body' });
    return undefined;
  } catch (error) {
    if (error instanceof ValidationError) return error.problems[0];
    throw error;
  }
};

const accepted: Readonly<Record<string, string>> = {
  '2026-11-21T09:30:00Z': '2026-11-21T09:30:00.000Z',
  '2026-11-21t09:30:00z': '2026-11-21T09:30:00.000Z',
  '2028-02-29T23:59:59.5-00:00': '2028-02-29T23:59:59.500Z',
  '2000-02-29T00:00:00+23:59': '2000-02-28T00:01:00.000Z',
  '2028-02-29T23:59:59.99999999999Z': '2028-02-29T23:59:59.999Z',
  '0001-01-01T00:00:00Z': '0001-01-01T00:00:00.000Z',
  '0099-12-31T00:00:00Z': '0099-12-31T00:00:00.000Z',
  '9999-12-31T23:59:59.999Z': '9999-12-31T23:59:59.999Z',
};

for (const [text, instant] of Object.entries(accepted)) {
  t.test(`${text} is ${instant}`, async (t) => {
    t.equal(new Date(validate(schema, { at: text }, { loc: 'body' }).at ?? 0).toISOString(), instant);
  });
}

const extra = 'unexpected extra characters at the end of the input';
const separator = 'invalid date separator, expected `-`';
const refused: Readonly<Record<string, string>> = {
  '': 'input is too short',
  '2028-1': 'input is too short',
  'abcd-02-29T23:59:59Z': 'invalid character in year',
  '28-02-29T23:59:59Z': 'invalid character in year',
  ' 2028-02-29T23:59:59Z': 'invalid character in year',
  '20280229T235959Z': separator,
  '2028/02/29T23:59:59Z': separator,
  '2028-02x09T00:00:00Z': separator,
  '2028-2-29T23:59:59Z': 'invalid character in month',
  '2028-02-9T00:00:00Z': 'invalid character in day',
  '2026-13-21T09:30:00Z': 'month value is outside expected range of 1-12',
  '2028-00-01T00:00:00Z': 'month value is outside expected range of 1-12',
  '2026-02-29T09:30:00Z': 'day value is outside expected range',
  '2100-02-29T09:30:00Z': 'day value is outside expected range',
  '2028-04-31T00:00:00Z': 'day value is outside expected range',
  '2028-02-00T00:00:00Z': 'day value is outside expected range',
  '2028-02-29T24:00:00Z': extra,
  '2028-02-29T23:60:00Z': extra,
  '2028-02-29T23:59:60Z': extra,
  '2028-02-29T23:59:59.Z': extra,
  '2028-02-29T23:59:59,5Z': extra,
  '2028-02-29T23:59Z': extra,
  '2028-02-29 23:59:59Z': extra,
  '2028-02-29T23:59:59+0100': extra,
  '2028-02-29T23:59:59+24:00': extra,
  '2028-02-29T23:59:59 01:00': extra,
  '2028-02-29T23:59:59Z\n': extra,
};

for (const [text, error] of Object.entries(refused)) {
  t.test(`${JSON.stringify(text)} is refused: ${error}`, async (t) => {
    const msg = `Input should be a valid datetime or date, ${error}`;
    t.strictSame(problemOf({ at: text }), {
      type: 'datetime_from_date_parsing',
      loc: ['body', 'at'],
      msg,
      input: text,
      ctx: { error },
    });
  });
}

for (const [text, year] of [
  ['0000-02-29T00:00:00Z', 0],
  ['0001-01-01T00:00:00+00:01', 0],
  ['9999-12-31T23:59:59-00:01', 10_000],
] as const) {
  t.test(`${text} is in year ${year}`, async (t) => {
    const problem = problemOf({ at: text });
    t.equal(problem?.type, 'datetime_parsing');
    t.strictSame(problem?.ctx, { error: `year ${year} is out of range` });
  });
}

t.test('a time without offset is ambiguous', async (t) => {
  for (const text of ['2026-11-21', '2026-11-21T09:30:00', '2026-11-21T09:30:00.5']) {
    const problem = problemOf({ at: text });
    t.match(problem, { type: 'timezone_aware', msg: 'Input should have timezone info', input: text });
  }
});

t.test('a value other than a string isn’t a time', async (t) => {
  for (const value of [1, true, [], {}, null]) {
    t.match(problemOf({ at: value }), { type: 'datetime_type', msg: 'Input should be a valid datetime' });
  }
});

t.test('the future begins after now', async (t) => {
  const problem = problemOf({ expires: '2026-11-21T10:30:00+01:00' });
  t.match(problem, { type: 'datetime_future', msg: 'Input should be in the future' });
  t.equal(problemOf({ expires: '2026-11-21T09:30:00.001Z' }), undefined);
});

t.test('the latest instant is the last that is taken', async (t) => {
  t.equal(problemOf({ ends: '2026-11-22T10:30:00+01:00' }), undefined);
  t.strictSame(problemOf({ ends: '2026-11-22T09:30:00.001Z' }), {
    type: 'less_than_equal',
    loc: ['body', 'ends'],
    msg: 'Input should be less than or equal to 2026-11-22T09:30:00.000Z',
    input: '2026-11-22T09:30:00.001Z',
    ctx: { le: '2026-11-22T09:30:00.000Z' },
  });
});

t.test('null and absent stay apart', async (t) => {
  t.strictSame(validate(schema, { expires: null }, { loc: 'body' }), { expires: null });
  t.strictSame(validate(schema, {}, { loc: 'body' }), {});
});
