/**
 * Carries the fragment of the requested page through the sign-in: a redirected browser keeps it in the address, where no server
 * sees it. A page that leads on by itself is left for the same address, with the fragment. Without scripts the sign-in leads to
 * the page without its fragment.
 */

/** The maximum length of a location with its fragment; beyond it the fragment is left out. */
const maxLength = 2048;

const { hash } = location;

/**
 * The location with its fragment, in a spelling allowed in `return_to`: without a backslash, and before the query without two
 * slashes in a row.
 * @param {string} place
 */
function withFragment(place) {
  if (place.includes('#')) return place;
  const plain = hash.replaceAll('\\', '%5C');
  const whole = place + (place.includes('?') ? plain : plain.replaceAll('//', '/%2F'));
  return whole.length > maxLength ? place : whole;
}

if (hash !== '') {
  const field = document.querySelector('input[name=return_to]');
  if (field instanceof HTMLInputElement) field.value = withFragment(field.value);

  /** @type {NodeListOf<HTMLAnchorElement>} */
  const links = document.querySelectorAll('.providers a, [data-leads] a');
  for (const link of links) {
    const url = new URL(link.href);
    const place = url.searchParams.get('return_to');
    if (place !== null) url.searchParams.set('return_to', withFragment(place));
    link.href = url.href;
  }

  const leading = document.querySelector('[data-leads] a');
  if (leading instanceof HTMLAnchorElement) location.replace(leading.href);
}
