import type { RequestHead } from './request-head.ts';

/**
 * True if a browser requests a page for a tab of its own, so that a person will read the response. Fetch metadata decides (Fetch
 * Metadata §2) or, without it, an `Accept` in which nothing has a higher weight than HTML.
 */
export function isNavigation(head: Pick<RequestHead, 'secFetchMode' | 'secFetchDest' | 'accept'>): boolean {
  const { secFetchMode, secFetchDest, accept } = head;
  if (secFetchMode !== '' || secFetchDest !== '')
    return secFetchMode === 'navigate' && secFetchDest === 'document';
  return accept.length > 0 && prefersHtml(accept);
}

/**
 * True if, according to its Fetch metadata, a script or frame of a page sent the request, so that the user wouldn't see a page
 * sent in response. When a service worker forwards a navigation, the mode stays and the destination becomes `empty`. A request
 * without `Sec-Fetch-Site` comes from no page: Node's fetch, for one, sends only a mode.
 */
export function isUnseen({
  secFetchSite,
  secFetchMode,
  secFetchDest,
}: Pick<RequestHead, 'secFetchSite' | 'secFetchMode' | 'secFetchDest'>): boolean {
  if (secFetchSite === '') return false;
  if (secFetchMode !== '' && secFetchMode !== 'navigate') return true;
  return secFetchDest !== '' && secFetchDest !== 'document' && secFetchDest !== 'empty';
}

/** True if an `Accept` (RFC 9110 §12.5.1) names `text/html`, and nothing with a higher weight. */
function prefersHtml(accept: string): boolean {
  if (!/text\/html/i.test(accept)) return false;
  let html = 0;
  let highest = 0;
  for (const part of accept.split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    const weight = weightOf(parameters);
    highest = Math.max(highest, weight);
    if (name.toLowerCase() === 'text/html') html = Math.max(html, weight);
  }
  return html > 0 && html >= highest;
}

/** The weight `q` (RFC 9110 §12.4.2), by default 1; a malformed one counts as 0. */
function weightOf(parameters: readonly string[]): number {
  const given = parameters.find((text) => /^q\s*=/i.test(text));
  if (given === undefined) return 1;
  const weight = /^q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i.exec(given)?.[1];
  return weight === undefined ? 0 : Number(weight);
}
