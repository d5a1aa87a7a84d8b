import { z } from 'zod';
import { duration, parseDuration } from '../values/durations-and-sizes.ts';

/** The least time in which every verifier has fetched the published keys again: copies live five minutes. */
const leastAhead = '10m';
const rotationRule = 'must be a duration such as 12h or 30d, or never';

/** `signing_keys`: how the keys of tokens and assertions, and the secret of cookies, are replaced. */
export const signingKeys = z
  .strictObject({
    rotate_every: z
      .string({ error: rotationRule })
      .regex(/^(?:never|\d{1,9}(?:ms|s|m|h|d))$/, { error: rotationRule, abort: true })
      .transform((text) => (text === 'never' ? null : parseDuration(text)))
      .refine((value) => value === null || value >= parseDuration(leastAhead), {
        error: `must be at least ${leastAhead}`,
      })
      .prefault('30d')
      .describe(
        'Time for which a key signs before the next key replaces it; never: until a command rotates.',
      ),
    publish_ahead: duration({ min: leastAhead })
      .prefault('10m')
      .describe(
        'Time for which a key is published before it signs, at least 10m: copies of the published keys may be five minutes old.',
      ),
  })
  .prefault({})
  .describe(
    'Rotation of the keys that sign access tokens and assertions, and of the secret of the refresh and web cookies.',
  );
