import t from 'tap';
import { refusals } from '../../src/errors.ts';
import { errorWords } from '../../src/web/pages/error-words.ts';
import { problemTexts, waitText } from '../../src/web/pages/problem.ts';

t.test('people are told when to try again', async (t) => {
  for (const [seconds, text] of [
    [undefined, 'in a moment'],
    [1, 'in a moment'],
    [40, 'in 40 seconds'],
    [91, 'in 2 minutes'],
    [870, 'in 15 minutes'],
    [5_401, 'in 2 hours'],
  ] as const)
    t.equal(waitText(seconds), text);
});

t.test('every code has words for a page, and never leads nowhere', async (t) => {
  for (const [code, { status }] of Object.entries(refusals)) {
    const { heading, text, steps } = errorWords(code, status);
    t.match(heading, /^[A-Z][^.]*$/, code);
    t.match(text, /\.$/);
    t.ok(steps.length > 0);
  }
  t.strictSame(errorWords('of_another_release', 401), errorWords('not_authenticated', 401));
  t.match(errorWords('constructor', 400).heading, 'did not work');
});

t.test('every code has words for a form', async (t) => {
  for (const code of Object.keys(refusals) as (keyof typeof refusals)[]) {
    t.match(problemTexts({ code }, { labels: {} }).notice, /\.$/, code);
  }
});

t.test('the problems of a 422 are told at their fields', async (t) => {
  const labels = { username: 'User name', password: 'Password' };
  const told = (type: string, name: string, ctx = {}, msg = '') =>
    problemTexts(
      { code: 'validation_error', problems: [{ type, loc: ['body', name], msg, input: null, ctx }] },
      { labels },
    );
  t.strictSame(told('missing', 'username').fields, { username: 'Enter your user name.' });
  t.strictSame(told('string_too_short', 'username', { min_length: 1 }).fields, {
    username: 'Enter your user name.',
  });
  t.strictSame(told('string_too_short', 'password', { min_length: 12 }).fields, {
    password: 'Use at least 12 characters.',
  });
  t.strictSame(told('string_too_long', 'password', { max_length: 1024 }).fields, {
    password: 'Use at most 1024 characters.',
  });
  t.strictSame(told('value_error', 'password', {}, 'Value error, must not be a common password').fields, {
    password: 'Your password must not be a common password.',
  });
  t.strictSame(told('string_unicode', 'password').fields, {
    password: "Your password contains characters that can't be used here.",
  });
  t.match(told('extra_forbidden', 'other'), { fields: {}, notice: /try again/ });
});
