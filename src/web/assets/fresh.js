/**
 * Reloads pages about the signed-in user. A browser may keep a page in memory, whatever its `Cache-Control` says, in case its
 * user goes back to it: it is then loaded again, and shows nothing until it is.
 */

addEventListener('pagehide', () => {
  document.body.hidden = true;
});

addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});
