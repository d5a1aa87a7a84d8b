/**
 * For pages that say who is signed in. A browser may keep a page in memory in case its user goes back to it, whatever its
 * `Cache-Control` says: it is then loaded again, and shows nothing until it is.
 */

addEventListener('pagehide', () => {
  document.body.hidden = true;
});

addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});
