import { Refusal } from '../errors.ts';
import type { RequestHead } from './request-head.ts';

/** Refuses a browser's prefetch of a page that no one has asked to open (Fetch §2.2.6). Throws {@link Refusal} `prefetch`. */
export function assertNoPrefetch(head: RequestHead): void {
  if (/\bprefetch\b/i.test(head.secPurpose)) throw new Refusal('prefetch');
}
