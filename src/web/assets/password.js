/** Reveals a password field on demand. Without scripts its button stays hidden. */

/** @type {NodeListOf<HTMLButtonElement>} */
const buttons = document.querySelectorAll('button[data-reveals]');

for (const button of buttons) {
  const input = document.getElementById(button.dataset.reveals ?? '');
  const word = button.querySelector('[data-word]');
  if (!(input instanceof HTMLInputElement) || word === null) continue;

  /** @param {boolean} shown */
  const show = (shown) => {
    input.type = shown ? 'text' : 'password';
    word.textContent = shown ? 'Hide' : 'Show';
  };

  button.addEventListener('click', () => show(input.type === 'password'));
  // A browser remembers what is sent from a text field.
  input.form?.addEventListener('submit', () => show(false));
  button.hidden = false;
}
