/** Copies a text on demand. Without scripts, or where pages may not write to the clipboard, its button stays hidden. */

/** @type {NodeListOf<HTMLButtonElement>} */
const buttons = document.querySelectorAll('button[data-copies]');

for (const button of buttons) {
  const source = document.getElementById(button.dataset.copies ?? '');
  const word = button.querySelector('[data-word]');
  const result = document.querySelector('[data-copied]');
  if (source === null || word === null || navigator.clipboard === undefined) continue;

  button.addEventListener('click', async () => {
    const copied = await navigator.clipboard.writeText(source.textContent ?? '').then(
      () => true,
      () => false,
    );
    word.textContent = copied ? 'Copied' : 'Copy';
    if (result !== null) result.textContent = copied ? 'Copied' : 'Copying is not allowed here';
  });
  button.hidden = false;
}
