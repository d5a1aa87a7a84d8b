/**
 * For pages that say who is signed in. A browser may keep a page in memory for whoever goes back to it, whatever its
 * `Cache-Control` says: it is asked for again, and until then shows nothing.
 */

addEventListener('pagehide', () => {
  document.body.hidden = true;
});

addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});
