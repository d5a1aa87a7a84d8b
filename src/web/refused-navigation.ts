import { Refusal, type ValidationError } from '../errors.ts';
import type { RefusedRequest } from '../http/exchange.ts';
import type { IsKnownOrigin } from '../http/foreign-page.ts';
import { isNavigation } from '../http/navigation.ts';
import { isBesideSignIn } from '../http/presented-credential.ts';
import type { InsteadOf, RefusalParts, Reply } from '../http/reply.ts';
import { areaOf } from '../rules/own-areas.ts';
import { isReturnTo } from '../rules/return-to.ts';
import { areaFields, fieldsOfHosts, htmlContent, redirection, type WebArea } from './area.ts';
import { ledToSignIn } from './led-to-sign-in.ts';
import { errorPage } from './pages/error.ts';
import { type ErrorWords, keptNoCookie, passwordOfAnother } from './pages/error-words.ts';
import { otherNamePage } from './pages/other-name.ts';
import { formPageOf, signInPath } from './return-to.ts';
import type { Site } from './site.ts';

const readMethods: ReadonlySet<string> = new Set(['GET', 'HEAD']);

type PagesOfRefusals = Pick<
  WebArea,
  'path' | 'site' | 'siteOn' | 'homeAt' | 'isOwnOrigin' | 'isPagePath' | 'cookie' | 'recentSignIns'
>;

/** The pages at the host of a refused request. */
interface PagesAt {
  readonly site: Site;
  readonly home: string;
  readonly isOwnOrigin: IsKnownOrigin;
  readonly isInArea: boolean;
  /** Headers of every page, names and values in turn. */
  readonly fields: readonly string[];
}

/**
 * Creates the function that replaces refusals in JSON for browsers: a navigation gets a page or, if no one is signed in, a
 * redirect to the page that signs people in, unless the browser itself sent what was refused. A 401 that stays JSON names that
 * page in `sign_in`.
 */
export function createRefusedNavigation(area: PagesOfRefusals): InsteadOf {
  return (request, refusal, parts) => {
    const { namedHost, path, method, route, target } = request;
    const isForPeople = isNavigation(request.head);
    const reads = readMethods.has(method);
    if (parts.code === 'not_found' && path === '/' && route === '' && namedHost === null)
      return isForPeople && reads ? redirection(302, `${area.path}/`) : null;
    const pages = pagesAt(area, request);
    if (!request.isOnBrowserRoute && !pages.isInArea) return null;
    if (!isForPeople) return parts.status === 401 ? withSignIn(parts, pages.site.signIn) : null;
    const isLed = parts.code === 'not_authenticated' && request.isOnBrowserRoute && reads;
    if (isLed && !isBesideSignIn(request, parts.status))
      return namedHost === null
        ? ledToSignIn(area, request, target, path)
        : redirection(302, signInPath(pages.site.signIn, target, path));
    const headers = pages.isInArea ? parts.headers : [...parts.headers, ...pages.fields];
    const content = htmlContent(pageOf(pages, request, refusal, parts));
    return { status: parts.status, headers, content };
  };
}

/** The pages at the host of a request; a named host knows nothing of `base_url` and the console. */
function pagesAt(area: PagesOfRefusals, { namedHost, host, path }: RefusedRequest): PagesAt {
  if (namedHost === null)
    return {
      site: area.site,
      home: area.homeAt(host),
      isOwnOrigin: area.isOwnOrigin,
      isInArea: area.isPagePath(path),
      fields: areaFields,
    };
  return {
    site: area.siteOn(namedHost),
    home: '/',
    isOwnOrigin: namedHost.isOwnOrigin,
    isInArea: areaOf(path, [area.path]) !== undefined,
    fields: fieldsOfHosts,
  };
}

function pageOf(
  pages: PagesAt,
  request: RefusedRequest,
  refusal: Refusal | ValidationError,
  parts: RefusalParts,
): string {
  const { status, code } = parts;
  const { target, id: requestId, head, otherName, namedHost } = request;
  const { site, home } = pages;
  const isRepeatable = readMethods.has(request.method);
  const detail = typeof parts.body.detail === 'string' ? parts.body.detail : '';
  const reference = { status, code, requestId, detail };
  if (otherName?.isOfPostern) {
    const { expected: origin, sent } = otherName;
    const place = { origin, target: placeThere(pages, request), sent, isForm: !isRepeatable };
    return otherNamePage(site, { ...reference, ...place });
  }
  const about = refusal instanceof Refusal ? refusal.options : {};
  // No sign-in leads to Postern's own pages of a named host, whose addresses may hold codes.
  const returnTo = isReturnTo(target) && !(namedHost !== null && pages.isInArea) ? target : null;
  return errorPage(site, {
    ...reference,
    words: wordsOf(request, refusal, status),
    missingScopes: about.missingScopes,
    retryAfterSeconds: about.retryAfterSeconds,
    returnTo: isRepeatable ? returnTo : formPageOf(head, pages),
    isRepeatable,
    home,
    isHome: isRepeatable && target === home,
  });
}

/** Words for a refusal that has others than those of its code. */
function wordsOf(
  request: RefusedRequest,
  refusal: Refusal | ValidationError,
  status: number,
): ErrorWords | undefined {
  if (isBesideSignIn(request, status)) return passwordOfAnother;
  return refusal instanceof Refusal && refusal.options.reason === 'cookies blocked'
    ? keptNoCookie
    : undefined;
}

/** Path and query to open under Postern's own name: those of the request, or of the page whose form was sent. */
function placeThere({ home }: PagesAt, { head, method, path, target }: RefusedRequest): string {
  const formPage = () => formPageOf(head, { isOwnOrigin: (origin) => origin === head.origin });
  const place = readMethods.has(method) ? target : (formPage() ?? path);
  return isReturnTo(place) ? place : home;
}

function withSignIn(parts: RefusalParts, signIn: string): Reply {
  return { ...parts, body: { ...parts.body, sign_in: signIn } };
}
