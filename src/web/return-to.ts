import { laxReadings } from '../rules/lax-path.ts';
import { areaOf } from '../rules/own-areas.ts';
import { maxReturnToLength, returnToPattern } from '../rules/return-to.ts';
import type { WebArea } from './area.ts';

/** Whether a browser may be led there: see {@link returnToPattern}. */
export function isReturnTo(text: string): boolean {
  return text.length <= maxReturnToLength && returnToPattern.test(text);
}

/** `return_to` of a query; null if there is none, or several. */
export function returnToOf(query: string): string | null {
  const [first, ...others] = new URLSearchParams(query).getAll('return_to');
  return first === undefined || others.length > 0 || !isReturnTo(first) ? null : first;
}

/** Where a sign-in leads: to `returnTo`, unless it is none of ours to lead to or another own path than a page. */
export function destination({ path, home, isOwnPath }: WebArea, returnTo: string | null): string {
  if (returnTo === null || !isReturnTo(returnTo)) return home;
  const [target = ''] = returnTo.split('?', 1);
  const isPage = areaOf(target, [path]) !== undefined;
  return isPage || !laxReadings(target).some(isOwnPath) ? returnTo : home;
}

/** The address of the sign-in page, which leads back to `target`, or if that can't be led back to, to its path alone. */
export function signInPath(webPath: string, target: string, targetPath: string): string {
  const back = [target, targetPath].find(isReturnTo);
  const query = back === undefined ? '' : `?return_to=${encodeURIComponent(back)}`;
  return `${webPath}/sign-in${query}`;
}
