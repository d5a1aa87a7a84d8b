/**
 * Moves a token from the address (`#token=…`, which no server sees) into its field, and hides the field. Without scripts
 * it is typed or pasted there.
 */

const token = new URLSearchParams(location.hash.slice(1)).get('token');
const field = document.querySelector('[data-token-field]');
const input = field?.querySelector('input');

if (token && field instanceof HTMLElement && input) {
  input.value = token;
  field.hidden = true;
  // Neither the history nor a bookmark keeps it.
  history.replaceState(null, '', location.pathname + location.search);
  const next = document.querySelector('[data-token-field] ~ .field input');
  if (next instanceof HTMLInputElement) next.focus();
}
