/**
 * Gives the response to a form an address that can be opened, so that the browser doesn't ask whether to send the form again on a
 * reload or return. Without scripts it asks.
 */

const address = document.querySelector('[data-address]');

if (address instanceof HTMLElement) history.replaceState(null, '', address.dataset.address);
