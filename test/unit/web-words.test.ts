import { readFileSync } from 'node:fs';
import t from 'tap';
import { bootstrap } from '../../src/endpoints/bootstrap.ts';
import type { AnyDefinition } from '../../src/endpoints/endpoint.ts';
import { login } from '../../src/endpoints/login.ts';
import { redeemInvitation } from '../../src/endpoints/redeem-invitation.ts';
import { selfPassword } from '../../src/endpoints/self-password.ts';
import { administrationEndpoints } from '../../src/endpoints/table.ts';
import { type RefusalCode, refusals } from '../../src/errors.ts';
import { activatePage } from '../../src/web/pages/activate.ts';
import { errorWords } from '../../src/web/pages/error-words.ts';
import { invitationPage } from '../../src/web/pages/invitation.ts';
import { passwordPage } from '../../src/web/pages/password.ts';
import { type Problem, problemTexts, waitText } from '../../src/web/pages/problem.ts';
import { signInPage } from '../../src/web/pages/sign-in.ts';
import type { Site } from '../../src/web/site.ts';

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

/** Codes whose words are general, for any form: when to try again, and what other sites do. */
const general = new Set<RefusalCode>(['too_many_attempts', 'overloaded', 'store_unavailable', 'cross_site']);

t.test('a form has words of its own for each refusal that its endpoint documents', async (t) => {
  const site = {
    path: '/postern',
    title: 'Acme',
    origins: ['https://acme.example.com'],
    scripts: {},
  } as unknown as Site;
  const common = { minPasswordLength: 12, username: 'ada' };
  const forms: [AnyDefinition, (problem: Problem) => string][] = [
    [bootstrap, (problem) => activatePage(site, { ...common, problem })],
    [redeemInvitation, (problem) => invitationPage(site, { ...common, problem })],
    [selfPassword, (problem) => passwordPage(site, { ...common, problem })],
    [login, (problem) => signInPage(site, { returnTo: null, password: true, providers: [], problem })],
  ];
  for (const [{ id, refusals: codes }, render] of forms)
    for (const code of codes.filter((one) => !general.has(one)))
      t.notMatch(render({ code }), 'Please try again, or ask your administrator.', `${id} ${code}`);
});

t.test('the console has words for each refusal that administration documents', async (t) => {
  const source = readFileSync('src/web/assets/console/show.js', 'utf8');
  const [, table] = /const whatToDo = \{\n([\s\S]*?)\n\};/.exec(source)!;
  const told = new Set([...table!.matchAll(/^ {2}(\w+):/gm)].map(([, code]) => code));
  const documented = administrationEndpoints.flatMap(({ refusals: codes }) => codes);
  for (const code of new Set([...documented, 'insufficient_scope', 'store_unavailable']))
    t.ok(told.has(code), code);
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
