import t from 'tap';
import { createCors } from '../../src/http/cors.ts';
import { createKnownOrigins, isForeignPage } from '../../src/http/foreign-page.ts';
import { readRequestHead } from '../../src/http/request-head.ts';

const own = 'https://acme.example.com';
const friend = 'https://app.example.com';
const isKnown = createKnownOrigins([own], createCors({ origins: [friend] }));
const site = 'Sec-Fetch-Site';

const rows: [string, isForeign: boolean, ...head: string[]][] = [
  ['neither header: no browser', false],
  ['the own page', false, site, 'same-origin', 'Origin', own],
  ['the own page that keeps its origin to itself', false, site, 'same-origin', 'Origin', 'null'],
  ['the user alone, from the address bar', false, site, 'none', 'Origin', 'https://evil.example'],
  ['the own origin from a browser without fetch metadata', false, 'Origin', own],
  ['an origin of cors.origins', false, site, 'cross-site', 'Origin', friend],
  ['the same without fetch metadata', false, 'Origin', friend],
  ['another site', true, site, 'cross-site', 'Origin', 'https://evil.example'],
  ['another origin of the same site', true, site, 'same-site', 'Origin', 'https://wiki.example.com'],
  ['another origin without fetch metadata', true, 'Origin', 'https://evil.example'],
  ['a sandbox', true, site, 'cross-site', 'Origin', 'null'],
  ['a blank origin', true, 'Origin', ''],
  ['the own origin by another scheme', true, 'Origin', 'http://acme.example.com'],
  ['the own origin in capitals', true, 'Origin', own.toUpperCase()],
  ['a host that begins like ours', true, 'Origin', `${own}.evil.example`],
  ['two origins', true, 'Origin', own, 'Origin', own],
  ['another site that says no origin', true, site, 'cross-site'],
  ['another site in capitals', true, site, 'Cross-Site'],
  ['the same site that says no origin', false, site, 'same-site'],
  ['two sites, one of them another', true, site, 'cross-site', site, 'same-origin'],
  ['two sites with a foreign origin', true, site, 'none', site, 'none', 'Origin', 'https://evil.example'],
  ['a site unheard of with a foreign origin', true, site, 'moon', 'Origin', 'https://evil.example'],
];

for (const [name, expected, ...head] of rows) {
  t.test(name, async (t) => {
    t.equal(isForeignPage(readRequestHead(head), isKnown), expected);
  });
}
