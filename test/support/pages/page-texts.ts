import { activatedPage, activatePage } from '../../../src/web/pages/activate.ts';
import { echoPage } from '../../../src/web/pages/echo.ts';
import { errorPage } from '../../../src/web/pages/error.ts';
import { homePage } from '../../../src/web/pages/home.ts';
import { invitationPage, invitationRedeemedPage } from '../../../src/web/pages/invitation.ts';
import { otherNamePage } from '../../../src/web/pages/other-name.ts';
import { passwordPage } from '../../../src/web/pages/password.ts';
import { signInPage } from '../../../src/web/pages/sign-in.ts';
import { endSessionPage, signedOutHerePage, signedOutPage } from '../../../src/web/pages/sign-out.ts';
import { signedInPage, startPage } from '../../../src/web/pages/to-host.ts';
import type { Site } from '../../../src/web/site.ts';
import { readCorpus } from '../corpora/corpus.ts';
import { isLong } from '../gateway/gateway-under-load.ts';
import { createSite } from './page-server.ts';

/** Texts of one kind that would do something if a page took them for more than text. */
export interface MarkupFamily {
  readonly name: string;
  readonly values: readonly string[];
}

/** All of `test/corpora/markup.jsonl`. */
export const markupFamilies: readonly MarkupFamily[] = readCorpus<MarkupFamily>('markup');
export const markupTexts: readonly string[] = markupFamilies.flatMap(({ values }) => values);
/** One in seven of them in the default size, of each kind some: for what takes a while with each. */
export const someMarkupTexts: readonly string[] = markupTexts.filter((_, index) => isLong || index % 7 === 0);

const { site } = createSite();
/** A site whose title and tenant are that text. */
export const siteNamed = (text: string): Site => ({
  ...site,
  title: text,
  tenant: `${text} `,
});
const problemAt = (name: string, text: string) =>
  ({
    code: 'validation_error',
    problems: [{ type: 'value_error', msg: `Value error, ${text}`, loc: ['body', name], input: text }],
  }) as const;

/** A destination with that text in its path. */
const towardsHost = (text: string) => ({
  host: { name: 'a', origin: 'https://a.example', entry: 0, isOwnOrigin: () => false },
  path: `/${text}`,
  start: text,
  isAgain: false,
});

/** Pages with that text wherever a text comes from outside. */
export const pagesWith: Readonly<Record<string, (text: string) => string>> = {
  'sign-in': (text) =>
    signInPage(siteNamed(text), {
      returnTo: text,
      password: true,
      providers: [{ name: text, label: text }],
      username: text,
      problem: problemAt('password', text),
    }),
  'sign-in again': (text) =>
    signInPage(siteNamed(text), {
      returnTo: text,
      password: true,
      providers: [],
      username: text,
      signedInAs: text,
      problem: null,
    }),
  'sign-in after an end': (text) =>
    signInPage(siteNamed(text), {
      returnTo: text,
      password: true,
      providers: [],
      hasEnded: true,
      problem: null,
    }),
  'sign-in towards a host': (text) =>
    signInPage(siteNamed(text), {
      returnTo: towardsHost(text),
      password: true,
      providers: [{ name: text, label: text }],
      username: text,
      problem: null,
    }),
  'led to the sign-in': (text) => startPage(siteNamed(text), { url: text }),
  'led to a host': (text) => signedInPage(siteNamed(text), { host: text, url: `/postern/${text}` }),
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
  'invitation redeemed': (text) => invitationRedeemedPage(siteNamed(text), { username: text }),
  password: (text) =>
    passwordPage(siteNamed(text), {
      username: text,
      minPasswordLength: 12,
      problem: problemAt('new_password', text),
    }),
  home: (text) =>
    homePage(siteNamed(text), {
      username: text,
      displayName: text,
      hasPassword: true,
      application: text,
      console: text,
    }),
  'signed out': (text) => signedOutPage(siteNamed(text), { stillSignedInAt: text }),
  'signed out here': (text) => signedOutHerePage(siteNamed(text), { host: text, url: text }),
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
      home: text,
    }),
  'other name': (text) =>
    otherNamePage(siteNamed(text), {
      status: 403,
      code: text,
      detail: text,
      requestId: text,
      origin: text,
      target: text,
      sent: text,
      isForm: true,
    }),
  'sign-in under another name': (text) =>
    signInPage(
      { ...site, origins: [text, text] },
      { returnTo: null, password: true, providers: [], problem: null },
    ),
  echo: (text) =>
    echoPage(siteNamed(text), {
      method: text,
      target: text,
      headers: [
        ['X-Auth-Username', text],
        ['X-Auth-Scopes', text],
        [text, text],
      ],
      body: text,
      body_length: text.length,
    }),
};

const tag = /<!doctype html>|<(\/?[a-z][a-z0-9]*)((?:\s+[a-zA-Z-]+(?:="[^"]*")?)*)\s*\/?>/g;

/** The names of tags and attributes, in order. Fails on a `<` that begins none. */
export function structureOf(page: string): string[] {
  if (page.replace(tag, '').includes('<')) throw new Error('text that looks like a tag');
  return [...page.matchAll(tag)].map(([, name = '', attributes = '']) =>
    [name, ...attributes.matchAll(/([a-zA-Z-]+)(?:="[^"]*")?/g)]
      .map(String)
      .join(' ')
      .replace(/="[^"]*"/g, ''),
  );
}
