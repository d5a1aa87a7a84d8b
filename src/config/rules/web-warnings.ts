import ipaddr from 'ipaddr.js';
import { portOfOrigin } from '../../rules/name-of-origin.ts';
import { areaOf } from '../../rules/own-areas.ts';
import { noUpstream } from '../sections/routes.ts';
import { isLoopbackHost } from '../values/addresses.ts';
import type { Rule } from './rule.ts';

/** Warns of routes below a browser route that refuse the calls of its pages, unless `browser: false` says that this is meant. */
const pagesMayCall: Rule = ({ routes = [] }, { report, isWritten }) => {
  const pages = routes.flatMap((route) =>
    route?.browser && route.prefix !== undefined ? [{ prefix: route.prefix, host: route.host }] : [],
  );
  for (const [index, route] of routes.entries()) {
    const path = route?.prefix ?? route?.exact;
    if (path === undefined || route?.public || route?.upstream === noUpstream) continue;
    if (route?.accept?.includes('session') !== true || isWritten(['routes', index, 'browser'])) continue;
    const page = pages.find(({ prefix, host }) => host === route.host && isBelow(path, prefix));
    if (page !== undefined)
      report(
        ['routes', index],
        `pages below ${page.prefix} can't call ${path} with the web cookie (401): add browser: true, or browser: false if they don't`,
      );
  }
};

/** Warns of an address that everyone on the way can listen to; on loopback there is no way. */
const secretsAreHidden: Rule = ({ base_url: baseUrl, web }, { report }) => {
  const places = [
    [['base_url'], baseUrl],
    [['web', 'console', 'base_url'], web?.console?.base_url],
  ] as const;
  for (const [path, origin] of places)
    if (origin?.startsWith('http:') && !isLoopbackHost(new URL(origin).hostname))
      report(path, 'is http: passwords, tokens and cookies can be read and changed on their way; use https');
};

/** Warns where browsers don't say which page makes a request that they add a password to (Fetch Metadata §2). */
const otherPagesAreTold: Rule = ({ base_url: baseUrl, api_keys: keys }, { report }) => {
  if (keys?.basic !== true || !baseUrl?.startsWith('http:') || isLoopbackHost(new URL(baseUrl).hostname))
    return;
  report(
    ['api_keys', 'basic'],
    "lets pages of other sites use a key that a browser keeps, because over http browsers don't say which page makes a request: use an https base_url",
  );
};

/** Consequence of a proxy that isn't trusted: its `X-Forwarded-For` and `X-Forwarded-Proto` count for nothing. */
const unheard =
  'X-Forwarded-For and -Proto are ignored: all clients share its address in log and throttle, and services are told http';

/**
 * Warns where a proxy must end TLS but isn't trusted. A service that is told http makes links and redirects to http, leaves
 * `Secure` off its cookies, and refuses forms whose `Origin` is https.
 */
const proxyIsBelieved: Rule = (
  { base_url: baseUrl, listen, trusted_proxies: proxies = [] },
  { report, isWritten },
) => {
  if (!baseUrl?.startsWith('https:') || listen?.tls !== undefined) return;
  if (!isWritten(['trusted_proxies']))
    report(
      ['base_url'],
      `is https, but listen has no tls: list the proxy that ends TLS in trusted_proxies, or ${unheard}; [] accepts that`,
    );
  else if (proxies.length > 0 && isLoopbackHost(listen?.host ?? '') && !proxies.some(mayBeHere))
    report(
      ['trusted_proxies'],
      `has no address of this machine, but only a proxy here reaches listen.host: add it, or ${unheard}`,
      'key',
    );
};

const loopback = [ipaddr.parse('127.0.0.1'), ipaddr.parse('::1')];

/** True if a trusted address or block has, or is, one of this machine's own; true for a broken one, which is reported anyway. */
function mayBeHere(block: string | undefined): boolean {
  if (block === undefined) return true;
  const [address, bits] = block.includes('/') ? ipaddr.parseCIDR(block) : [ipaddr.process(block), null];
  if (address.range() === 'loopback') return true;
  return bits !== null && loopback.some((own) => own.kind() === address.kind() && own.match(address, bits));
}

/** Warns of an upstream by the public name of Postern, which probably leads back here. */
const publicNamesAreNoUpstreams: Rule = ({ base_url: baseUrl, hosts = [], upstreams = {} }, { report }) => {
  const own = [
    ['base_url', baseUrl] as const,
    ...hosts.map((origin, index) => [`hosts[${index}]`, origin] as const),
  ]
    .filter(([, origin]) => origin !== undefined && !origin.includes('*'))
    .map(([key, origin]) => ({ key, address: addressOf(origin!) }));
  for (const [name, upstream] of Object.entries(upstreams)) {
    const { url } = upstream ?? {};
    if (url?.kind !== 'server') continue;
    const address = `${url.host.toLowerCase()} ${url.port}`;
    const called = own.find((each) => each.address === address);
    if (called !== undefined)
      report(
        ['upstreams', name, 'url'],
        `is ${called.key}: requests that come back to Postern are 508; name the service itself`,
      );
  }
};

/** Host and port of an origin. */
function addressOf(origin: string): string {
  return `${new URL(origin).hostname} ${portOfOrigin(origin)}`;
}

/** Warns of pages that lead people nowhere: after a sign-in there is only Postern's own start page. */
const signInsLeadSomewhere: Rule = ({ web, routes = [] }, { report, isWritten }) => {
  if (web === undefined || web.console !== undefined || isWritten(['web', 'home'])) return;
  if (routes.some((route) => route === undefined || route.browser)) return;
  report(
    ['web'],
    'leads people to no service: add browser: true to the routes that they open, unless these pages are for passwords alone (then set home)',
    'key',
  );
};

/** Warns of a start page that is a path without a route, once `hosts` have taken the routes of people. */
const homeIsThere: Rule = ({ web, hosts, routes = [] }, { report }) => {
  if (hosts === undefined || web?.home === undefined || web.path === undefined) return;
  const path = web.home.split(/[?#]/, 1)[0]!;
  const ofBaseUrl = routes.filter((route) => route?.host === undefined);
  const isRoute = ofBaseUrl.some(
    (route) => route?.exact === path || (route?.prefix !== undefined && isBelow(path, route.prefix)),
  );
  if (!isRoute && !isBelow(path, web.path))
    report(
      ['web', 'home'],
      'has no route at the host of base_url, so people find nothing there: leave it out for the page of Postern',
    );
};

/** True if a path is a prefix itself, or below it. */
function isBelow(path: string, prefix: string): boolean {
  return prefix === '/' || areaOf(path, [prefix]) !== undefined;
}

/** Warnings about what browsers meet, and about the network in front of Postern. */
export const webWarnings: readonly Rule[] = [
  pagesMayCall,
  signInsLeadSomewhere,
  homeIsThere,
  secretsAreHidden,
  otherPagesAreTold,
  proxyIsBelieved,
  publicNamesAreNoUpstreams,
];
