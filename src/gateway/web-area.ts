import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Config } from '../config/schema.ts';
import { createWebCookies } from '../credentials/web-cookie.ts';
import type { CookieAttributes } from '../http/cookies.ts';
import { logoFormat, logoRules } from '../rules/logo-image.ts';
import { areaOf, ownAreas } from '../rules/own-areas.ts';
import type { Records } from '../stores/records.ts';
import type { WebArea } from '../web/area.ts';
import { type Logo, loadAssets } from '../web/assets.ts';

const secretBytes = 32;

/** Builds what the pages for people have in common. Throws when the logo can't be used. */
export async function composeWebArea(
  config: Config,
  web: NonNullable<Config['web']>,
  records: Pick<Records, 'secret'>,
): Promise<WebArea> {
  const { tenant, base_url: baseUrl, endpoints } = config;
  const { path, home = `${path}/`, title = tenant } = web;
  const assets = loadAssets({ path, logo: web.logo === undefined ? null : loadLogo(web.logo) });
  const cookie = webCookie(config);
  const areas = ownAreas((name) => endpoints[name] === 'upstream', path);
  return {
    path,
    home,
    site: { path, home, title, tenant, ...assets.addresses },
    assets,
    cookie,
    cookies: createWebCookies({
      secret: await records.secret('cookie', randomBytes(secretBytes)),
      tenant,
      name: cookie.name,
    }),
    isOwnOrigin: (origin) => origin === baseUrl,
    isOwnPath: (target) => areaOf(target, areas) !== undefined,
  };
}

function loadLogo(file: string): Logo {
  const bytes = readFileSync(file);
  const format = logoFormat(bytes);
  if ('problem' in format) throw new Error(`web.logo: ${file} ${logoRules[format.problem]}`);
  return { bytes, format };
}

/** The cookie by which browsers are signed in to pages; only this host may set it wherever browsers can enforce that. */
export function webCookie({ base_url: baseUrl, sessions }: Config): CookieAttributes {
  const secure = baseUrl.startsWith('https:');
  const bare = sessions.cookie.name.replace(/^__(?:host|secure)-/i, '');
  return {
    name: `${secure ? '__Host-' : ''}${bare}_web`,
    path: '/',
    domain: null,
    secure,
    sameSite: 'lax',
  };
}
