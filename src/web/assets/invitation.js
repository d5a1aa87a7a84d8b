/**
 * Asks whether the invitation of the address is still good, before anyone chooses a password: without a password nothing is set,
 * and the invitation stays as it is. Without scripts people learn it when they have sent the form.
 */

const notice = document.querySelector('[data-spent]');
const form = document.querySelector('main form');
// Filled by the script before this one.
const token = form?.querySelector('[data-token-field] input');

if (
  notice instanceof HTMLElement &&
  form instanceof HTMLFormElement &&
  token instanceof HTMLInputElement &&
  token.value !== ''
) {
  const body = new URLSearchParams({ token: token.value });
  const response = await fetch(form.action, { method: 'POST', body }).catch(() => null);
  if (response?.status === 401) {
    form.hidden = true;
    notice.role = 'alert';
    notice.hidden = false;
  }
}

export {};
