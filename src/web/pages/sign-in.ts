import type { VNode } from 'preact';
import { accountName } from '../components/account-name.ts';
import { type Emphasis, linkButton, submitButton } from '../components/button.ts';
import { field } from '../components/field.ts';
import { renderPage } from '../components/layout.ts';
import { hiddenNotice, nameNotice, notice } from '../components/notice.ts';
import {
  isAtHost,
  type ReturnTo,
  returnToParameters,
  returnToQuery,
  shownHost,
} from '../host-destination.ts';
import { type Content, html } from '../html.ts';
import type { ScriptName, Site } from '../site.ts';
import { type FormWords, type Problem, type ProblemTexts, problemTexts } from './problem.ts';

/** A provider to sign in with. */
export interface Provider {
  /** Name in the configuration and in addresses. */
  readonly name: string;
  readonly label: string;
}

/** State of the sign-in page. */
export interface SignIn {
  /** Destination after the sign-in, sent back unchanged; null: none. */
  readonly returnTo: ReturnTo;
  readonly password: boolean;
  readonly providers: readonly Provider[];
  /** True if only the console rules out signing in with a password. Default: false. */
  readonly isForConsoleAlone?: boolean;
  /** The user name that was entered before, or that of the signed-in user. */
  readonly username?: string | undefined;
  /** The signed-in user, whom the console asks to sign in again. */
  readonly signedInAs?: string | null;
  /** The host of the services, whose sign-ins don't count at the console's own host; null: this isn't said. */
  readonly elsewhere?: string | null;
  /** True if activation is open, and a page creates an administrator. */
  readonly isActivationOpen?: boolean;
  /** True if a session has ended while its user was using the console. */
  readonly hasEnded?: boolean;
  /** True if the browser seems to have lost the cookie of its sign-in. */
  readonly hasLostCookie?: boolean;
  readonly problem: Problem | null;
}

const words: FormWords = {
  labels: { username: 'User name', password: 'Password' },
  above: {
    invalid_credentials: () => 'This user name and password do not match. Check both and try again.',
    too_many_attempts: (when) => `There were too many attempts to sign in. Try again ${when}.`,
    store_unavailable: (when) => `Signing in is not possible at the moment. Try again ${when}.`,
    overloaded: (when) => `Too many people are signing in at the moment. Try again ${when}.`,
    invalid_assertion: () =>
      'Signing in with the provider did not work or took too long. Please start again. If that does not help, allow cookies for this site.',
    provider_unavailable: (when) => `The sign-in provider can't be reached at the moment. Try again ${when}.`,
    user_not_provisioned: () =>
      'The provider knows you, but you have no account here. Ask your administrator for one.',
  },
};

const blockedCookies =
  "Your browser blocks cookies here, and without them you can't stay signed in. Allow cookies for this site, then load this page again.";
const lostCookie =
  'If you have just signed in, your browser did not keep the cookie that says so. Allow cookies for this site, then sign in again.';

/** Renders `<path>/sign-in`, with texts for the refusals of `POST /api/login/access-token` and of a provider's exchange. */
export function signInPage(site: Site, signIn: SignIn): string {
  const { password, providers, returnTo, isForConsoleAlone = false, signedInAs = null, problem } = signIn;
  const { hasLostCookie = false, elsewhere = null, isActivationOpen = false } = signIn;
  const hasEnded = isOver(signIn);
  const told = problemTexts(problem, words);
  return renderPage(site, {
    heading: 'Sign in',
    wrong: problem !== null || hasLostCookie,
    scripts: scriptsOf(signIn),
    address: problem === null ? null : site.signIn + returnToQuery(returnTo),
    content: [
      told.notice !== null && notice('problem', told.notice, 'notice'),
      nameNotice(site.origins),
      hasLostCookie ? notice('problem', lostCookie) : hiddenNotice('cookies', blockedCookies),
      isActivationOpen && firstSteps(site),
      isAtHost(returnTo) && html`<p id="host">Sign in to go on to <bdi>${shownHost(returnTo)}</bdi></p>`,
      hasEnded && html`<p id="ended">Your session has ended. Sign in to go on.</p>`,
      (signedInAs !== null || elsewhere !== null || isForConsoleAlone) && whyAsked(signIn),
      password && form(site, signIn, told),
      password && forgotten(site),
      password && providers.length > 0 && html`<p class="or"><span>or</span></p>`,
      providers.length > 0 &&
        providerLinks(site.path, providers, returnTo, password ? 'secondary' : 'primary'),
      !password &&
        providers.length === 0 &&
        html`<p>No way to sign in is set up. Ask your administrator.</p>`,
    ],
  });
}

function scriptsOf({ password, signedInAs = null, returnTo }: SignIn): readonly ScriptName[] {
  return [
    ...(password ? (['password'] as const) : []),
    ...(signedInAs === null ? [] : (['fresh'] as const)),
    ...(returnTo === null ? [] : (['fragment'] as const)),
    'cookies',
    'name',
  ];
}

/** True if the page says that the session has ended: not if its user has signed in again since, or has just tried to here. */
function isOver({ hasEnded = false, signedInAs = null, problem }: SignIn): boolean {
  return hasEnded && signedInAs === null && problem === null;
}

/** The page that creates the first administrator, for those who look for it here. */
function firstSteps({ path }: Site): VNode {
  return html`
    <p>
      Activation is open: <a href=${`${path}/activate`}>create the first administrator</a> with the activation token.
    </p>
  `;
}

function whyAsked(signIn: SignIn): VNode {
  const { signedInAs = null } = signIn;
  const who = signedInAs !== null && html`You are signed in as ${accountName(signedInAs)}. `;
  return html`<p id="signed-in">${who}The console ${reasonOf(signIn)}.</p>`;
}

function reasonOf({ password, providers, isForConsoleAlone, signedInAs = null, elsewhere }: SignIn): Content {
  const [first] = providers;
  if (isForConsoleAlone && first !== undefined)
    return html`accepts only sign-ins with <bdi>${first.label}</bdi>`;
  const purpose = 'so that no page of a service can use it';
  if (signedInAs === null)
    return html`has a sign-in of its own, ${purpose}: being signed in at <bdi>${elsewhere}</bdi> does not count here`;
  const byPassword = password && first === undefined;
  return `asks ${byPassword ? 'for your password again' : 'you to sign in again'}, ${purpose}`;
}

function form({ path }: Site, signIn: SignIn, { notice, fields }: ProblemTexts): VNode {
  const { returnTo, username = '', signedInAs = null, elsewhere = null } = signIn;
  const typed = username !== '' && fields.username === undefined;
  const host = isAtHost(returnTo) ? 'host' : null;
  const before = isOver(signIn) ? 'ended' : host;
  const describedBy =
    notice !== null ? 'notice' : signedInAs !== null || elsewhere !== null ? 'signed-in' : before;
  return html`
    <form method="post" action=${`${path}/sign-in`}>
      ${returnToParameters(returnTo).map(([name, value]) => html`<input type="hidden" name=${name} value=${value} />`)}
      ${field({
        name: 'username',
        label: words.labels.username!,
        type: 'text',
        autocomplete: 'username',
        value: username,
        problem: fields.username,
        describedBy: typed ? null : describedBy,
        focus: !typed,
      })}
      ${field({
        name: 'password',
        label: words.labels.password!,
        type: 'password',
        autocomplete: 'current-password',
        problem: fields.password,
        describedBy: typed ? describedBy : null,
        focus: typed,
      })}
      ${submitButton('Sign in')}
    </form>
  `;
}

/** The way out for people who have forgotten their password: without mail, only an invitation sets a new one. */
function forgotten({ contact }: Site): VNode {
  const administrator = 'your administrator';
  const asked = contact === null ? administrator : html`<a href=${contact}>${administrator}</a>`;
  return html`<p class="hint">Forgotten your password? Ask ${asked} for a new invitation.</p>`;
}

/** A list of links to the providers, with `returnTo` as destination. */
function providerLinks(
  path: string,
  providers: readonly Provider[],
  returnTo: ReturnTo,
  emphasis: Emphasis,
): VNode {
  const query = returnToQuery(returnTo);
  const item = ({ name, label }: Provider) => html`
    <li>
      ${linkButton(`${path}/sign-in/${encodeURIComponent(name)}${query}`, ['Sign in with ', html`<bdi>${label}</bdi>`], emphasis)}
    </li>
  `;
  return html`<ul class="providers">${providers.map(item)}</ul>`;
}
