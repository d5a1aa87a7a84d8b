import { isIP } from 'node:net';
import type { JudgedConfig, Rule } from './rule.ts';

/** True if the cookie will be Secure; undefined if the deciding setting is broken. */
function isSecure({ base_url, sessions }: JudgedConfig): boolean | undefined {
  const secure = sessions?.cookie?.secure;
  return secure === 'auto' ? base_url?.startsWith('https:') : secure;
}

// draft-ietf-httpbis-rfc6265bis §5.7: browsers drop such cookies, so no user would stay signed in.
const secureWhereBrowsersWantIt: Rule = (config, { report }) => {
  const cookie = config.sessions?.cookie;
  if (!cookie || isSecure(config) !== false) return;
  const needs = 'requires a Secure cookie: an https base_url or secure: true';
  if (cookie.same_site === 'none') report(['sessions', 'cookie', 'same_site'], needs);
  if (/^__(?:host|secure)-/i.test(cookie.name ?? '')) report(['sessions', 'cookie', 'name'], needs);
};

// draft-ietf-httpbis-rfc6265bis §4.1.3.2
const hostPrefix: Rule = ({ sessions }, { report, isWritten }) => {
  const cookie = sessions?.cookie;
  if (!cookie || !/^__host-/i.test(cookie.name ?? '')) return;
  if ((cookie.path ?? '/') !== '/') report(['sessions', 'cookie', 'name'], 'requires path: /');
  if (isWritten(['sessions', 'cookie', 'domain']))
    report(['sessions', 'cookie', 'domain'], "can't be combined with a __Host- name");
};

const domainCoversHost: Rule = ({ base_url, sessions }, { report }) => {
  const domain = sessions?.cookie?.domain?.toLowerCase();
  if (domain === undefined || base_url === undefined) return;
  const { hostname } = new URL(base_url);
  const covers = hostname === domain || (hostname.endsWith(`.${domain}`) && !isIP(hostname));
  if (!covers) report(['sessions', 'cookie', 'domain'], 'must be the host of base_url or a domain above it');
};

/** Rules of browsers for combinations of a cookie's attributes. */
export const cookieRules: readonly Rule[] = [secureWhereBrowsersWantIt, hostPrefix, domainCoversHost];
