/**
 * Tells people who opened the sign-in page under a name other than Postern's own where the service is. Only the browser knows the
 * name: a proxy in front may send another `Host`.
 */

const notice = document.querySelector('[data-origins]');

if (notice instanceof HTMLElement) {
  const origins = (notice.dataset.origins ?? '').split(' ');
  if (!origins.includes(location.origin)) {
    const own = origins.find((origin) => origin.endsWith(`//${location.host}`)) ?? origins[0];
    const link = notice.querySelector('a');
    if (own !== undefined && link !== null) {
      link.href = own + location.pathname + location.search;
      link.textContent = own;
      notice.role = 'alert';
      notice.hidden = false;
    }
  }
}
