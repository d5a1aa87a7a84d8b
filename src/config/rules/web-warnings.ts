import { areaOf } from '../../rules/own-areas.ts';
import { noUpstream } from '../sections/routes.ts';
import type { Rule } from './rule.ts';

/** Warns of routes below a browser route that refuse the calls of its pages, unless `browser: false` says that this is meant. */
const pagesMayCall: Rule = ({ routes = [] }, { report, isWritten }) => {
  const pages = routes.flatMap((route) =>
    route?.browser && route.prefix !== undefined ? [route.prefix] : [],
  );
  for (const [index, route] of routes.entries()) {
    const path = route?.prefix ?? route?.exact;
    if (path === undefined || route?.public || route?.upstream === noUpstream) continue;
    if (route?.accept?.includes('session') !== true || isWritten(['routes', index, 'browser'])) continue;
    const page = pages.find((prefix) => prefix === '/' || areaOf(path, [prefix]) !== undefined);
    if (page !== undefined)
      report(
        ['routes', index],
        `pages below ${page} can't call ${path} with the web cookie (401): add browser: true, or browser: false if they don't`,
      );
  }
};

/** Warnings about what browsers meet. */
export const webWarnings: readonly Rule[] = [pagesMayCall];
