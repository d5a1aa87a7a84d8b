/** Names of programs by their token in a `User-Agent`. Many name others as well, so the first match counts. */
export const programs: Readonly<Record<string, string>> = {
  'Edg/': 'Edge',
  'OPR/': 'Opera',
  'Firefox/': 'Firefox',
  'Chrome/': 'Chrome',
  'Safari/': 'Safari',
  'curl/': 'curl',
  'Go-http-client/': 'Go',
  'python-requests/': 'Python',
};
/** Names of systems by their token in a `User-Agent`. */
export const systems: Readonly<Record<string, string>> = {
  Windows: 'Windows',
  Android: 'Android',
  iPhone: 'iPhone',
  iPad: 'iPad',
  'Mac OS X': 'macOS',
  Linux: 'Linux',
};

/** Number of characters of a `User-Agent` that names no known program. */
const shownLength = 40;

/** Name of a client, such as `Chrome on Linux`, by its `User-Agent`, as the console shows it. */
export function clientName(userAgent: string): string {
  const found = [programs, systems].flatMap((names) => {
    const name = Object.entries(names).find(([part]) => userAgent.includes(part));
    return name === undefined ? [] : [name[1]];
  });
  return found.length > 0 ? found.join(' on ') : userAgent.slice(0, shownLength) || 'unknown';
}
