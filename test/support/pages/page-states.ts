import { type RefusalCode, refusals } from '../../../src/errors.ts';
import { activatedPage, activatePage } from '../../../src/web/pages/activate.ts';
import { echoPage } from '../../../src/web/pages/echo.ts';
import { errorPage } from '../../../src/web/pages/error.ts';
import { keptNoCookie, passwordOfAnother } from '../../../src/web/pages/error-words.ts';
import { homePage } from '../../../src/web/pages/home.ts';
import { invitationPage, invitationRedeemedPage } from '../../../src/web/pages/invitation.ts';
import { otherNamePage } from '../../../src/web/pages/other-name.ts';
import { passwordChangedPage, passwordPage } from '../../../src/web/pages/password.ts';
import { type SignIn, signInPage } from '../../../src/web/pages/sign-in.ts';
import {
  endSessionPage,
  signedOutHerePage,
  signedOutPage,
  signOutPage,
} from '../../../src/web/pages/sign-out.ts';
import { signedInPage, startPage } from '../../../src/web/pages/to-host.ts';
import type { Site } from '../../../src/web/site.ts';

const providers = [
  { name: 'idp', label: 'Acme Login' },
  { name: 'partner', label: 'Partner Directory' },
];
const signIn: SignIn = { returnTo: '/store/', password: true, providers: [], problem: null };
const minPasswordLength = 12;
const tooShort = {
  type: 'string_too_short',
  msg: 'String should have at least 12 characters',
  input: null,
  ctx: { min_length: 12 },
};
const controlCharacters = {
  type: 'value_error',
  msg: 'Value error, must not contain control characters',
  input: 'a\u0000',
  ctx: { error: {} },
};

const echoed = {
  method: 'GET',
  target: '/orders?year=2026',
  headers: [
    ['Host', 'acme.example.com'],
    ['X-Auth-Username', 'alice'],
    ['X-Auth-Scopes', Array.from({ length: 20 }, (_, index) => `area-${index}:read`).join(' ')],
    ['Accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
  ],
  body: '',
  body_length: 0,
} as const;

const towardsHost = {
  host: {
    name: 'wiki.acme.example.com',
    origin: 'https://wiki.acme.example.com:8443',
    entry: 0,
    isOwnOrigin: () => false,
  },
  path: '/pages/start?year=2026',
  start: 'x'.repeat(43),
  isAgain: false,
};

/** An error page for that code, of a GET without a session to come back to. */
export function errorOf(site: Site, code: RefusalCode, more: object = {}): string {
  return errorPage(site, {
    ...refusals[code],
    code,
    requestId: '019a9c5e-7d1b-7c44-9c3a-5f0d0a7e21b4',
    returnTo: '/store/reports?year=2026',
    isRepeatable: true,
    home: '/',
    ...more,
  });
}

const longOrigin = `https://${'department-of-records.'.repeat(4)}example.com:8443`;

/** The page about another name, after a refused form or address. */
const otherNameOf = (site: Site, more: { readonly origin: string; readonly isForm: boolean }) =>
  otherNamePage(site, {
    status: 403,
    code: 'cross_site',
    detail: 'Cross-site request',
    requestId: '019a9c5e-7d1b-7c44-9c3a-5f0d0a7e21b4',
    target: '/postern/sign-in',
    sent: 'http://10.0.0.5:8080',
    ...more,
  });

/** Texts that are as long as they may be, or nearly. */
const longNamed = (site: Site): Site => ({
  ...site,
  title: 'Landesanstalt für Umweltbeobachtungsdatenverarbeitung, Department of Records',
  tenant: 'x'.repeat(63),
});

/** Every page in every state that looks different from the others, by its name. */
export const pageStates: Readonly<Record<string, (site: Site) => string>> = {
  'sign-in': (site) => signInPage(site, signIn),
  'sign-in-contact': (site) => signInPage({ ...site, contact: 'mailto:help@acme.example' }, signIn),
  'sign-in-providers': (site) => signInPage(site, { ...signIn, providers }),
  'sign-in-providers-alone': (site) => signInPage(site, { ...signIn, password: false, providers }),
  'sign-in-no-way': (site) => signInPage(site, { ...signIn, password: false }),
  'sign-in-again': (site) => signInPage(site, { ...signIn, username: 'alice', signedInAs: 'alice' }),
  'sign-in-again-providers-alone': (site) =>
    signInPage(site, { ...signIn, password: false, providers, signedInAs: 'alice' }),
  'sign-in-console': (site) =>
    signInPage(site, {
      ...signIn,
      password: false,
      providers: providers.slice(0, 1),
      isForConsoleAlone: true,
      signedInAs: 'alice',
    }),
  'sign-in-console-host': (site) =>
    signInPage(site, { ...signIn, returnTo: '/postern/console/', elsewhere: 'orders.acme.example' }),
  'sign-in-host': (site) => signInPage(site, { ...signIn, providers, returnTo: towardsHost }),
  'sign-in-new': (site) => signInPage(site, { ...signIn, isActivationOpen: true }),
  'sign-in-lost-cookie': (site) => signInPage(site, { ...signIn, providers, hasLostCookie: true }),
  'sign-in-blocked-cookies': (site) =>
    signInPage(site, { ...signIn, providers }).replace('data-cookies="true" hidden', ''),
  'sign-in-other-name': (site) => signInPage({ ...site, origins: [longOrigin] }, { ...signIn, providers }),
  'sign-in-wrong': (site) =>
    signInPage(site, { ...signIn, providers, username: 'alice', problem: { code: 'invalid_credentials' } }),
  'sign-in-throttled': (site) =>
    signInPage(site, {
      ...signIn,
      username: 'alice',
      problem: { code: 'too_many_attempts', retryAfterSeconds: 870 },
    }),
  'sign-in-unavailable': (site) =>
    signInPage(site, {
      ...signIn,
      username: 'alice',
      problem: { code: 'store_unavailable', retryAfterSeconds: 2 },
    }),
  'sign-in-provider-failed': (site) =>
    signInPage(site, { ...signIn, providers, problem: { code: 'invalid_assertion' } }),
  'sign-in-fields': (site) =>
    signInPage(site, {
      ...signIn,
      problem: {
        code: 'validation_error',
        problems: [
          { type: 'missing', msg: 'Field required', loc: ['body', 'username'], input: null },
          { type: 'missing', msg: 'Field required', loc: ['body', 'password'], input: null },
        ],
      },
    }),
  activate: (site) => activatePage(site, { minPasswordLength, problem: null }),
  'activate-wrong-token': (site) =>
    activatePage(site, {
      token: 'not the token',
      username: 'alice',
      minPasswordLength,
      problem: { code: 'invalid_bootstrap_token' },
    }),
  'activate-fields': (site) =>
    activatePage(site, {
      token: 'right',
      username: 'a\u0000',
      minPasswordLength,
      problem: {
        code: 'validation_error',
        problems: [
          { ...controlCharacters, loc: ['body', 'username'] },
          { ...tooShort, loc: ['body', 'password'] },
        ],
      },
    }),
  'activate-done': (site) => activatedPage(site, { username: 'alice' }),
  'activate-already': (site) =>
    activatePage(site, { minPasswordLength, problem: { code: 'already_activated' } }),
  invitation: (site) => invitationPage(site, { minPasswordLength, problem: null }),
  'invitation-spent': (site) =>
    invitationPage(site, { minPasswordLength, problem: null }).replace('data-spent="true" hidden', ''),
  'invitation-invalid': (site) =>
    invitationPage(site, { token: 'old', minPasswordLength, problem: { code: 'invalid_invitation' } }),
  'invitation-fields': (site) =>
    invitationPage(site, {
      token: 'good',
      minPasswordLength,
      problem: {
        code: 'validation_error',
        problems: [
          {
            type: 'value_error',
            msg: 'Value error, must not be a common password',
            loc: ['body', 'password'],
            input: null,
          },
        ],
      },
    }),
  'invitation-done': (site) => invitationRedeemedPage(site, { username: 'alice' }),
  password: (site) => passwordPage(site, { username: 'alice', minPasswordLength, problem: null }),
  'password-wrong': (site) =>
    passwordPage(site, { username: 'alice', minPasswordLength, problem: { code: 'wrong_password' } }),
  'password-throttled': (site) =>
    passwordPage(site, {
      username: 'alice',
      minPasswordLength,
      problem: { code: 'too_many_attempts', retryAfterSeconds: 60 },
    }),
  'password-done': (site) => passwordChangedPage(site),
  echo: (site) => echoPage(site, echoed),
  'echo-console': (site) => echoPage(site, echoed, '/postern/console/'),
  home: (site) =>
    homePage(site, {
      username: 'alice',
      displayName: 'Alice Example',
      hasPassword: true,
      application: null,
      console: '/postern/console/',
    }),
  'home-application': (site) =>
    homePage(longNamed(site), {
      username: 'alice',
      displayName: null,
      hasPassword: true,
      application: '/orders/',
      console: '/postern/console/',
    }),
  'home-plain': (site) =>
    homePage(site, {
      username: 'alice',
      displayName: null,
      hasPassword: false,
      application: null,
      console: null,
    }),
  'sign-out': (site) => signOutPage(site, { hasHosts: false }),
  'sign-out-hosts': (site) => signOutPage(site, { hasHosts: true }),
  'signed-out': (site) => signedOutPage(site, { stillSignedInAt: null }),
  'signed-out-provider': (site) => signedOutPage(site, { stillSignedInAt: 'Acme Login' }),
  'signed-out-here': (site) =>
    signedOutHerePage(site, {
      host: 'acme.example.com',
      url: 'https://acme.example.com/postern/sign-out',
    }),
  start: (site) => startPage(site, { url: 'https://acme.example.com/postern/sign-in?start=1' }),
  'signed-in': (site) =>
    signedInPage(site, { host: 'wiki.acme.example.com', url: '/postern/sign-in?return_to=1&start=2' }),
  'end-session': (site) =>
    endSessionPage(site, { provider: 'Acme Login', url: 'https://login.example.com/end?state=1' }),
  'error-sign-in': (site) => errorOf(site, 'not_authenticated'),
  'error-sign-in-form': (site) => errorOf(site, 'not_authenticated', { isRepeatable: false }),
  'error-password-of-another': (site) => errorOf(site, 'not_authenticated', { words: passwordOfAnother }),
  'error-kept-no-cookie': (site) =>
    errorOf(site, 'not_authenticated', { words: keptNoCookie, returnTo: null }),
  'error-scope': (site) =>
    errorOf(site, 'insufficient_scope', {
      detail: 'Missing scope: store:read store:write',
      missingScopes: ['store:read', 'store:write'],
    }),
  'error-scope-home': (site) =>
    errorOf(site, 'insufficient_scope', {
      detail: 'Missing scope: flows:edit',
      missingScopes: ['flows:edit'],
      isHome: true,
    }),
  'error-cross-site': (site) => errorOf(site, 'cross_site', { isRepeatable: false }),
  'error-other-name': (site) => otherNameOf(site, { origin: 'https://stock.example.com', isForm: true }),
  'error-other-name-long': (site) => otherNameOf(longNamed(site), { origin: longOrigin, isForm: false }),
  'error-not-found': (site) => errorOf(site, 'not_found'),
  'error-bad-request': (site) => errorOf(site, 'bad_request'),
  'error-target-too-long': (site) => errorOf(site, 'target_too_long', { returnTo: null }),
  'error-headers-too-large': (site) => errorOf(site, 'headers_too_large'),
  'error-throttled': (site) => errorOf(site, 'too_many_attempts', { retryAfterSeconds: 40 }),
  'error-internal': (site) => errorOf(site, 'internal_error'),
  'error-upstream': (site) => errorOf(site, 'upstream_unavailable'),
  'sign-in-long-texts': (site) =>
    signInPage(longNamed(site), {
      ...signIn,
      providers: [{ name: 'idp', label: 'Verwaltungsgemeinschaftsverzeichnisdienst' }],
      username: 'someone.with.a.very.long.name@subdomain.example.com',
    }),
  'error-long-texts': (site) =>
    errorOf(longNamed(site), 'insufficient_scope', {
      requestId: 'r'.repeat(128),
      missingScopes: ['a'.repeat(100)],
    }),
  'error-store': (site) => errorOf(site, 'store_unavailable', { retryAfterSeconds: 2 }),
};
