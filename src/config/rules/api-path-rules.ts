import { areaOf, createMayBeRead, pageSegments } from '../../rules/own-areas.ts';
import type { Rule } from './rule.ts';

// Pages in the API's area would have the API's headers and refusals, and one path could be a page and an endpoint.
const apiIsApartFromPages: Rule = ({ api_path: apiPath, web }, { report, isWritten }) => {
  const webPath = web?.path;
  if (apiPath === undefined || webPath === undefined) return;
  if (createMayBeRead([apiPath])(webPath)) {
    if (isWritten(['api_path'])) report(['api_path'], `must be neither web.path, ${webPath}, nor above it`);
    else report(['web', 'path'], `can't be in ${apiPath}, which is api_path`);
    return;
  }
  const segment = pageSegments.find((each) => createMayBeRead([`${webPath}/${each}`])(apiPath));
  if (segment !== undefined) report(['api_path'], `can't be in ${webPath}/${segment}: pages are there`);
};

// RFC 6265 §5.1.4: browsers would send the cookie to no endpoint that reads it.
const cookieReachesTheApi: Rule = ({ api_path: apiPath, sessions }, { report }) => {
  const path = sessions?.cookie?.path?.replace(/\/$/, '');
  if (apiPath === undefined || path === undefined || path === '' || areaOf(apiPath, [path]) !== undefined)
    return;
  report(
    ['sessions', 'cookie', 'path'],
    `must be api_path, ${apiPath}, or above it: no request to the API would have the cookie`,
  );
};

/** Rules about the path of the API. */
export const apiPathRules: readonly Rule[] = [apiIsApartFromPages, cookieReachesTheApi];
