/**
 * Moves a token from the address (`#token=…`, which no server sees) into its field, and hides the field. Without scripts people
 * type or paste it there.
 */

const token = tokenOf(location.hash);
const field = document.querySelector('[data-token-field]');
const input = field?.querySelector('input');

if (token && field instanceof HTMLElement && input) {
  input.value = token;
  field.hidden = true;
  // Neither the history nor a bookmark must keep the token.
  history.replaceState(null, '', location.pathname + location.search);
  const next = document.querySelector('[data-token-field] ~ .field input');
  if (next instanceof HTMLInputElement) next.focus();
}

// Another link opened in the same tab changes the fragment alone, which loads nothing. A fresh form is
// opened with it, without what was shown about the earlier token; nothing is sent again.
addEventListener('hashchange', () => {
  const { hash, pathname } = location;
  if (!tokenOf(hash)) return;
  history.replaceState(null, '', pathname);
  // The empty query makes it another address, so that the browser loads it; it is dropped above.
  location.replace(`${pathname}?${hash}`);
});

/** @param {string} hash */
function tokenOf(hash) {
  return new URLSearchParams(hash.slice(1)).get('token');
}
