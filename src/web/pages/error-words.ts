import type { RefusalCode } from '../../errors.ts';

/** A person's next step after a refusal. */
export type NextStep = 'sign_in' | 'sign_out' | 'retry' | 'home';

/** Words for a refusal on a page. */
export interface ErrorWords {
  readonly heading: string;
  readonly text: string;
  /** The text for a sent form; default: `text`. */
  readonly textOfForm?: string;
  /** Next steps, the most helpful first; empty: only the administrator can help. */
  readonly steps: readonly NextStep[];
}

const signInAgain: ErrorWords = {
  heading: 'Please sign in',
  text: 'You are signed out, or your session has ended. Sign in to go on where you were.',
  textOfForm:
    'You are signed out, or your session has ended: nothing was done with what you sent. Sign in, then send it again.',
  steps: ['sign_in'],
};
const tooLarge: ErrorWords = {
  heading: 'This is too large',
  text: 'The request of your browser is larger than this site accepts. Go back and try with less.',
  steps: ['home'],
};
const notForPages: ErrorWords = {
  heading: 'This address is not for browsers',
  text: 'It is meant for programs that present a credential of their own.',
  steps: ['home'],
};
const serviceDown: ErrorWords = {
  heading: 'The service does not respond',
  text: 'The service behind this page is not working at the moment. It is not your doing.',
  steps: ['retry', 'home'],
};
const notNow: ErrorWords = {
  heading: 'Not available at the moment',
  text: 'Something that this page needs is not working or has too much to do. It is not your doing.',
  steps: ['retry'],
};

const notAllowed: ErrorWords = {
  heading: 'You may not open this page',
  text: 'Your account may not do this.',
  steps: ['home'],
};
const notUnderstood: ErrorWords = {
  heading: 'That did not work',
  text: 'The request could not be understood. Go back and try again.',
  steps: ['home'],
};

const byCode: Readonly<Record<RefusalCode, ErrorWords>> = {
  bad_request: notUnderstood,
  ambiguous_credentials: notForPages,
  invalid_cursor: notUnderstood,
  not_authenticated: signInAgain,
  invalid_token: signInAgain,
  invalid_api_key: notForPages,
  invalid_credentials: signInAgain,
  invalid_refresh_token: signInAgain,
  invalid_invitation: signInAgain,
  invalid_bootstrap_token: signInAgain,
  session_required: signInAgain,
  invalid_assertion: {
    heading: 'Signing in did not work',
    text: 'Signing in with the provider did not work or took too long. Please start again.',
    steps: ['sign_in'],
  },
  user_not_provisioned: {
    heading: 'You have no account here',
    text: 'The provider knows you, but no account here belongs to you. Ask your administrator for one, or sign in as someone else.',
    steps: ['sign_in'],
  },
  misdirected: {
    heading: 'This is the wrong address',
    text: 'The service is on this machine, and is only served under names of this machine, such as localhost.',
    steps: ['home'],
  },
  insufficient_scope: { ...notAllowed, text: 'Your account lacks a permission that this page needs.' },
  cross_site: {
    heading: 'This came from another site',
    text: 'For your safety, requests that other sites send in your name are refused. If you meant to do this, open the page here and do it again.',
    steps: ['home'],
  },
  prefetch: {
    heading: 'This page was opened too early',
    text: 'Your browser asked for it before you did. Open it again.',
    steps: ['retry', 'home'],
  },
  api_key_required: notForPages,
  expiry_exceeds_caller: notAllowed,
  wrong_password: notAllowed,
  address_not_allowed: {
    heading: 'Not from this network',
    text: 'This page can only be opened from certain networks. Ask your administrator which.',
    steps: ['home'],
  },
  not_found: {
    heading: 'There is nothing here',
    text: 'No page has this address. It may be misspelt, or the page has moved.',
    steps: ['home'],
  },
  method_not_allowed: {
    heading: 'That does not work here',
    text: 'This page can be opened, but nothing can be sent to it this way.',
    steps: ['retry', 'home'],
  },
  request_timeout: {
    heading: 'That took too long',
    text: 'The request of your browser did not arrive in time. Check your connection, then try again.',
    steps: ['retry', 'home'],
  },
  already_activated: notUnderstood,
  conflict: notUnderstood,
  in_use: notUnderstood,
  managed: notUnderstood,
  last_administrator: notUnderstood,
  precondition_failed: notUnderstood,
  expectation_failed: notUnderstood,
  body_too_large: tooLarge,
  target_too_long: {
    heading: 'This address is too long',
    text: 'Your browser asked for an address that is longer than this site accepts. Check the link that you followed.',
    steps: ['home'],
  },
  headers_too_large: {
    heading: 'This is too large',
    text: 'Your browser sent too much with its request, often because of cookies. Delete the cookies of this site and try again.',
    steps: ['retry'],
  },
  too_many_attempts: {
    heading: 'Too many attempts',
    text: 'To protect accounts, more attempts are refused for a while.',
    steps: ['retry'],
  },
  internal_error: {
    heading: 'Something went wrong here',
    text: 'It is not your doing. If trying again does not help, tell your administrator the request id below.',
    steps: ['retry', 'home'],
  },
  not_implemented: serviceDown,
  version_not_supported: serviceDown,
  loop_detected: serviceDown,
  upstream_unavailable: serviceDown,
  upstream_timeout: serviceDown,
  upstream_overloaded: serviceDown,
  store_unavailable: notNow,
  overloaded: notNow,
  provider_unavailable: {
    heading: 'The sign-in provider does not respond',
    text: 'You can sign in when it works again, or in another way if there is one.',
    steps: ['retry', 'sign_in'],
  },
};

/** The words for a refused password or key that the browser sent by itself, whatever the code. */
export const passwordOfAnother: ErrorWords = {
  heading: 'Your browser sent another password',
  text: 'With its request, your browser sent a password or key that this site does not take, probably one of another application. Close all windows of your browser, or delete what it keeps for this address. Then open this page again.',
  steps: ['retry', 'home'],
};

/** The words for a browser that comes back from a sign-in without the cookie with which it began. */
export const keptNoCookie: ErrorWords = {
  heading: 'Your browser blocks cookies',
  text: "Your browser does not keep the cookies of this host, and without them you can't stay signed in here. Allow cookies for this host, then sign in again.",
  steps: ['sign_in'],
};

/** The words for a code; for a code that this release doesn't know, the words for its status. */
export function errorWords(code: string, status: number): ErrorWords {
  if (Object.hasOwn(byCode, code)) return byCode[code as RefusalCode];
  if (status === 401) return signInAgain;
  if (status === 403) return notAllowed;
  if (status === 429) return { ...byCode.too_many_attempts, heading: 'Too many requests' };
  if (status === 503) return notNow;
  if (status > 500) return serviceDown;
  return status === 500 ? byCode.internal_error : notUnderstood;
}
