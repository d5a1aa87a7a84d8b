import type { ReadFile } from '../config/configured-files.ts';
import type { Config } from '../config/sections/schema.ts';
import { createHostCookies, createWebCookies } from '../credentials/web-cookie.ts';
import { type CookieAttributes, hostOnlyName } from '../http/cookies.ts';
import { createIsHostOf } from '../http/host.ts';
import { createFindByOrigin } from '../http/named-hosts.ts';
import { isEmailAddress } from '../rules/email-address.ts';
import { logoFormat, logoRules } from '../rules/logo-image.ts';
import { areaOf, createMayBeRead, ownAreas } from '../rules/own-areas.ts';
import type { WebArea } from '../web/area.ts';
import { type Logo, loadAssets } from '../web/assets.ts';
import { createRecentSignIns } from '../web/recent-sign-ins.ts';
import type { Site } from '../web/site.ts';
import type { LastingParts } from './lasting-parts.ts';
import { consoleHostOf, ownOrigins } from './own-origins.ts';

/** Builds the parts that all pages share. Throws if the logo can't be used. */
export function composeWebArea(
  config: Config,
  web: NonNullable<Config['web']>,
  { keys, now, readFile }: Pick<LastingParts, 'keys' | 'now'> & { readonly readFile: ReadFile },
): WebArea {
  const { tenant, endpoints, api_path: apiPath } = config;
  const { path, home = `${path}/`, title = tenant } = web;
  const assets = loadAssets({ path, logo: web.logo === undefined ? null : loadLogo(web.logo, readFile) });
  const [cookie, hostCookie] = [browserCookie(config, 'web'), browserCookie(config, 'at')];
  const areas = ownAreas((name) => endpoints[name] === 'upstream', { apiPath, webPath: path });
  const site: Site = {
    path,
    signIn: `${path}/sign-in`,
    title,
    tenant,
    contact: contactLink(web.contact),
    origins: [config.base_url],
    ...assets.addresses,
  };
  return {
    path,
    site,
    assets,
    cookie,
    cookies: createWebCookies({ secrets: keys, tenant, name: cookie.name }),
    hostCookie,
    hostCookies: createHostCookies({ secrets: keys, tenant, name: hostCookie.name }),
    recentSignIns: createRecentSignIns(now),
    ...placesOf(config, site, home),
    isPagePath: createIsPagePath(path, apiPath),
    mayBeOwnPath: createMayBeRead(areas),
    ...hostsOf(config, site),
  };
}

/** The parts for named hosts. */
function hostsOf(
  { hosts, base_url: baseUrl, web }: Config,
  site: Site,
): Pick<WebArea, 'findByOrigin' | 'mayBeHostPage' | 'siteOn'> {
  const { path } = site;
  const console = web?.console?.base_url;
  return {
    findByOrigin: hosts === undefined ? null : createFindByOrigin({ hosts, baseUrl, console }),
    mayBeHostPage: createMayBeRead([path]),
    siteOn: ({ origin }) => ({ ...site, signIn: `${path}/start`, origins: [origin] }),
  };
}

/** Creates the test for paths in the area of pages; the API may lie below it, and has no pages. */
function createIsPagePath(path: string, apiPath: string): WebArea['isPagePath'] {
  const [pages, api] = [[path], [apiPath]];
  const isInArea = (target: string) => areaOf(target, pages) !== undefined;
  if (areaOf(apiPath, pages) === undefined) return isInArea;
  return (target) => isInArea(target) && areaOf(target, api) === undefined;
}

/** The parts that depend on the origin of a page: `base_url`, or the console's own origin if it has one. */
function placesOf(
  config: Config,
  site: Site,
  home: string,
): Pick<WebArea, 'console' | 'homeAt' | 'isConsoleHost' | 'isOwnOrigin' | 'originAt' | 'siteAt'> {
  const { base_url: baseUrl, web } = config;
  const { path } = site;
  const own = ownOrigins(config);
  const isOwnOrigin = (origin: string) => own.includes(origin);
  if (web?.console === undefined)
    return {
      console: null,
      homeAt: () => home,
      isConsoleHost: () => false,
      isOwnOrigin,
      originAt: () => baseUrl,
      siteAt: () => site,
    };
  const { base_url: ownOrigin, require: requiredProvider = null } = web.console;
  const isOwnHost = ownOrigin === undefined ? null : createIsHostOf(ownOrigin);
  const ownSite: Site = { ...site, origins: own };
  return {
    console: {
      path: `${path}/console`,
      url: `${ownOrigin ?? ''}${path}/console/`,
      isServedAt: isOwnHost ?? (() => true),
      requiredProvider,
    },
    isConsoleHost: consoleHostOf(config) ?? (() => false),
    // The console's host has no page of a service.
    homeAt: (host) => (isOwnHost?.(host) === true ? `${path}/` : home),
    isOwnOrigin,
    originAt: (host) => (isOwnHost?.(host) === true ? ownOrigin! : baseUrl),
    siteAt: (host) => (isOwnHost?.(host) === true ? ownSite : site),
  };
}

/** The address of a link to an e-mail address or page. */
function contactLink(contact: string | undefined): string | null {
  if (contact === undefined) return null;
  if (!isEmailAddress(contact)) return contact;
  return `mailto:${encodeURIComponent(contact).replace('%40', '@')}`;
}

function loadLogo(file: string, readFile: ReadFile): Logo {
  const bytes = readFile(file);
  const format = logoFormat(bytes);
  if ('problem' in format) throw new Error(`web.logo: ${file} ${logoRules[format.problem]}`);
  return { bytes, format };
}

/**
 * The cookie by which browsers are signed in: `web` to the pages, and `at` a named host. Under https, browsers let only the host
 * itself set it.
 */
function browserCookie({ base_url: baseUrl, sessions }: Config, kind: 'web' | 'at'): CookieAttributes {
  const secure = baseUrl.startsWith('https:');
  return {
    name: `${hostOnlyName(sessions.cookie.name, secure)}_${kind}`,
    path: '/',
    domain: null,
    secure,
    sameSite: 'lax',
  };
}
