/** The address as the only state: the shown part and record, filters and order. */

import { useEffect, useState } from 'preact/hooks';

/** Name of the event for a change of the address without a load. */
const moved = 'postern:moved';

/** @param {string} href */
export function go(href) {
  history.pushState(null, '', href);
  dispatchEvent(new Event(moved));
  scrollTo(0, 0);
}

/** Hook: the current address. */
export function useAddress() {
  const [href, setHref] = useState(location.href);
  useEffect(() => {
    const update = () => setHref(location.href);
    addEventListener(moved, update);
    addEventListener('popstate', update);
    return () => {
      removeEventListener(moved, update);
      removeEventListener('popstate', update);
    };
  }, []);
  return new URL(href);
}

/**
 * Lets links below `root` change the address without a load; links with a modifier key, to other places, or within the page (the
 * skip link) keep their usual effect.
 * @param {string} root
 */
export function followLinksBelow(root) {
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || link.target !== '' || link.hasAttribute('download')) return;
    if (link.origin !== location.origin || !link.pathname.startsWith(`${root}/`)) return;
    if (link.hash !== '' && withoutFragment(link.href) === withoutFragment(location.href)) return;
    event.preventDefault();
    go(link.href);
  });
}

/** @param {string} href */
const withoutFragment = (href) => href.replace(/#.*/s, '');

/**
 * The address with changed parameters; null, undefined and '' remove one.
 * @param {URL} address
 * @param {Readonly<Record<string, string | null | undefined>>} changes
 */
export function withParameters(address, changes) {
  const next = new URLSearchParams(address.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === '') next.delete(name);
    else next.set(name, value);
  }
  const query = next.toString();
  return address.pathname + (query === '' ? '' : `?${query}`);
}
