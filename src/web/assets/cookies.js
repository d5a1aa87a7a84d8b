/** Warns people before they sign in that they can't stay signed in while their browser blocks cookies. */

const notice = document.querySelector('[data-cookies]');

if (notice instanceof HTMLElement && areBlocked()) {
  notice.role = 'alert';
  notice.hidden = false;
}

/** Browsers that block cookies deny access to all storage of a site, even if they report cookies as enabled. */
function areBlocked() {
  try {
    return !navigator.cookieEnabled || window.localStorage === undefined;
  } catch {
    return true;
  }
}
