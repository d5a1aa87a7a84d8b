import { Refusal } from '../errors.ts';
import type { RequestHead } from './request-head.ts';

/** An entity-tag (RFC 9110 §8.8.3). */
const entityTag = /^(?:W\/)?"[!#-~\x80-\xff]*"$/;

/** The `ETag` of a record: its version in quotes. */
export function entityTagOf({ version }: { readonly version: number }): string {
  return `"${version}"`;
}

/**
 * Refuses with `precondition_failed` unless `If-Match` (RFC 9110 §13.1.1) is absent, `*`, or names the record's version; weak
 * tags don't count, and a malformed tag invalidates the whole list. If there is no record, any `If-Match` is refused.
 */
export function assertIfMatch({ raw }: RequestHead, record: { readonly version: number } | undefined): void {
  const values = raw.filter((_, index) => index % 2 === 1 && raw[index - 1]!.toLowerCase() === 'if-match');
  if (values.length === 0) return;
  if (record === undefined) throw new Refusal('precondition_failed');
  const tags = values
    .join(',')
    .split(',')
    .map((tag) => tag.trim());
  const isListed = tags.every((tag) => entityTag.test(tag)) && tags.includes(entityTagOf(record));
  if (!isListed && !(tags.length === 1 && tags[0] === '*')) throw new Refusal('precondition_failed');
}
