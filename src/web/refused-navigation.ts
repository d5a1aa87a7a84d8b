import { Refusal, type ValidationError } from '../errors.ts';
import type { RefusedRequest } from '../http/exchange.ts';
import { isNavigation } from '../http/navigation.ts';
import { isBesideSignIn } from '../http/presented-credential.ts';
import type { InsteadOf, RefusalParts, Reply } from '../http/reply.ts';
import { areaFields, htmlContent, redirection, type WebArea } from './area.ts';
import { ledToSignIn } from './led-to-sign-in.ts';
import { errorPage } from './pages/error.ts';
import { passwordOfAnother } from './pages/error-words.ts';
import { otherNamePage } from './pages/other-name.ts';
import { formPageOf, isReturnTo } from './return-to.ts';

const readMethods: ReadonlySet<string> = new Set(['GET', 'HEAD']);

type PagesOfRefusals = Pick<
  WebArea,
  'path' | 'site' | 'homeAt' | 'isOwnOrigin' | 'isPagePath' | 'cookie' | 'recentSignIns'
>;

/**
 * Creates the function that replaces refusals in JSON for browsers: a navigation gets a page or, if no one is signed in, a
 * redirect to the sign-in page, unless the browser itself sent what was refused. A 401 that stays JSON names that page in
 * `sign_in`.
 */
export function createRefusedNavigation(area: PagesOfRefusals): InsteadOf {
  const { path, isPagePath } = area;

  return (request, refusal, parts) => {
    const isForPeople = isNavigation(request.head);
    const reads = readMethods.has(request.method);
    if (parts.code === 'not_found' && request.path === '/' && request.route === '')
      return isForPeople && reads ? redirection(302, `${path}/`) : null;
    const isInArea = isPagePath(request.path);
    if (!request.isOnBrowserRoute && !isInArea) return null;
    if (!isForPeople) return parts.status === 401 ? withSignIn(parts, path) : null;
    const isLed = parts.code === 'not_authenticated' && request.isOnBrowserRoute && reads;
    if (isLed && !isBesideSignIn(request, parts.status))
      return ledToSignIn(area, request, request.target, request.path);
    const headers = isInArea ? parts.headers : [...parts.headers, ...areaFields];
    return { status: parts.status, headers, content: htmlContent(pageOf(area, request, refusal, parts)) };
  };
}

function pageOf(
  area: PagesOfRefusals,
  request: RefusedRequest,
  refusal: Refusal | ValidationError,
  parts: RefusalParts,
): string {
  const { status, code } = parts;
  const { target, id: requestId, head, host, otherName } = request;
  const isRepeatable = readMethods.has(request.method);
  const detail = typeof parts.body.detail === 'string' ? parts.body.detail : '';
  const reference = { status, code, requestId, detail };
  if (otherName?.isOfPostern) {
    const { expected: origin, sent } = otherName;
    const place = { origin, target: placeThere(area, request), sent, isForm: !isRepeatable };
    return otherNamePage(area.site, { ...reference, ...place });
  }
  const about = refusal instanceof Refusal ? refusal.options : {};
  const returnTo = isReturnTo(target) ? target : null;
  return errorPage(area.site, {
    ...reference,
    ...(isBesideSignIn(request, status) && { words: passwordOfAnother }),
    missingScopes: about.missingScopes,
    retryAfterSeconds: about.retryAfterSeconds,
    returnTo: isRepeatable ? returnTo : formPageOf(head, area),
    isRepeatable,
    home: area.homeAt(host),
  });
}

/** Path and query to open under Postern's own name: those of the request, or of the page whose form was sent. */
function placeThere(area: PagesOfRefusals, { head, host, method, path, target }: RefusedRequest): string {
  const formPage = () => formPageOf(head, { isOwnOrigin: (origin) => origin === head.origin });
  const place = readMethods.has(method) ? target : (formPage() ?? path);
  return isReturnTo(place) ? place : area.homeAt(host);
}

function withSignIn(parts: RefusalParts, path: string): Reply {
  return { ...parts, body: { ...parts.body, sign_in: `${path}/sign-in` } };
}
