import { z } from 'zod';

/** Schema of an instant in a response: RFC 3339, UTC, milliseconds. */
export const timestamp = z.iso.datetime({ precision: 3 });

/** Writes epoch ms as a {@link timestamp}. */
export function toTimestamp(instant: number): string {
  return new Date(instant).toISOString();
}
