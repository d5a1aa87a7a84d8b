import t from 'tap';
import { activatedPage, activatePage } from '../../src/web/pages/activate.ts';
import { errorPage } from '../../src/web/pages/error.ts';
import { homePage } from '../../src/web/pages/home.ts';
import { invitationPage } from '../../src/web/pages/invitation.ts';
import { passwordPage } from '../../src/web/pages/password.ts';
import { signInPage } from '../../src/web/pages/sign-in.ts';
import { endSessionPage, signedOutPage } from '../../src/web/pages/signed-out.ts';
import type { Site } from '../../src/web/site.ts';
import { createSite } from '../support/page-server.ts';

const siteNamed = (text: string): Site => ({ ...createSite().site, title: text, tenant: `${text} ` });
const problemAt = (name: string, text: string) =>
  ({
    code: 'validation_error',
    problems: [{ type: 'value_error', msg: `Value error, ${text}`, loc: ['body', name], input: text }],
  }) as const;

/** Pages with that text wherever a text comes from outside. */
const pagesWith: Readonly<Record<string, (text: string) => string>> = {
  'sign-in': (text) =>
    signInPage(siteNamed(text), {
      returnTo: text,
      password: true,
      providers: [{ name: text, label: text }],
      username: text,
      problem: problemAt('password', text),
    }),
  activate: (text) =>
    activatePage(siteNamed(text), {
      token: text,
      username: text,
      minPasswordLength: 12,
      problem: problemAt('token', text),
    }),
  activated: (text) => activatedPage(siteNamed(text), { username: text }),
  invitation: (text) =>
    invitationPage(siteNamed(text), {
      token: text,
      minPasswordLength: 12,
      problem: problemAt('password', text),
    }),
  password: (text) =>
    passwordPage(siteNamed(text), {
      username: text,
      minPasswordLength: 12,
      problem: problemAt('new_password', text),
    }),
  home: (text) =>
    homePage(siteNamed(text), { username: text, displayName: text, hasPassword: true, console: text }),
  'signed out': (text) => signedOutPage(siteNamed(text), { stillSignedInAt: text }),
  'end session': (text) => endSessionPage(siteNamed(text), { provider: text, url: text }),
  error: (text) =>
    errorPage(siteNamed(text), {
      status: 401,
      code: text,
      detail: text,
      requestId: text,
      missingScopes: [text],
      returnTo: text,
      isRepeatable: true,
    }),
};

const tag = /<!doctype html>|<(\/?[a-z][a-z0-9]*)((?:\s+[a-zA-Z-]+(?:="[^"]*")?)*)\s*\/?>/g;

/** The names of tags and attributes, in order. Fails on a `<` that begins none. */
function structureOf(page: string): string[] {
  if (page.replace(tag, '').includes('<')) throw new Error('text that looks like a tag');
  return [...page.matchAll(tag)].map(([, name = '', attributes = '']) =>
    [name, ...attributes.matchAll(/([a-zA-Z-]+)(?:="[^"]*")?/g)]
      .map(String)
      .join(' ')
      .replace(/="[^"]*"/g, ''),
  );
}

const hostile = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  `' onfocus='alert(1)`,
  '</title><svg onload=alert(1)>',
  '&lt;b&gt; & &amp;',
  '`b` ]]> <!--',
  '\u202etxet',
];

for (const [name, render] of Object.entries(pagesWith)) {
  t.test(`${name}: no text from outside becomes markup`, async (t) => {
    const harmless = structureOf(render('text'));
    for (const text of hostile) t.strictSame(structureOf(render(text)), harmless, text);
  });
}

t.test('a text is shown as it is', async (t) => {
  const page = pagesWith.activated!('<b>"&amp;"');
  t.match(page, '<strong>&lt;b>&quot;&amp;amp;&quot;</strong>');
});

t.test('an address to come back to is one parameter', async (t) => {
  const page = pagesWith['sign-in']!('/a?b=c&d#e');
  t.match(page, '/sign-in/%2Fa%3Fb%3Dc%26d%23e?return_to=%2Fa%3Fb%3Dc%26d%23e"');
  t.match(page, '<input type="hidden" name="return_to" value="/a?b=c&amp;d#e"/>');
});
