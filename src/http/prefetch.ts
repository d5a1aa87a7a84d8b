import { Refusal } from '../errors.ts';
import type { RequestHead } from './request-head.ts';

/** Refuses what a browser asks for before anyone has decided to go there (Fetch §2.2.6). Throws {@link Refusal} `prefetch`. */
export function assertNoPrefetch(head: RequestHead): void {
  if (/\bprefetch\b/i.test(head.secPurpose)) throw new Refusal('prefetch');
}
