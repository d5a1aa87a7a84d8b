/**
 * Gives a page that a form led to the address of a page that can be opened: whoever reloads it, or comes back to it, is not
 * asked by the browser whether to send the form again. Without scripts the browser asks.
 */

const address = document.querySelector('[data-address]');

if (address instanceof HTMLElement) history.replaceState(null, '', address.dataset.address);
