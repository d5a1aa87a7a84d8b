import { z } from 'zod';
import type { PathsKey } from '../values/passed-by.ts';

const spelling = z.enum(['refuse', 'pass']);

/** Descriptions of the keys, which are those of the file and, in their place, of a route. */
const described = {
  semicolons: 'Paths with ;: refuse or pass.',
  encoded_slashes: 'Paths with %2f: refuse or pass.',
  encoded_delimiters: 'Paths with %23 or %3f, an encoded # or ?: refuse or pass.',
  encoded_percent:
    'Paths with %25 before two hexadecimal digits, an escape that is encoded twice: refuse or pass.',
  encoded_backslashes: 'Paths with %5c, an encoded \\: refuse or pass.',
} as const satisfies Record<PathsKey, string>;

/** `paths`: how ambiguous spellings in paths are treated, unless the route says otherwise. */
export const paths = z
  .strictObject({
    semicolons: spelling.prefault('refuse').describe(described.semicolons),
    encoded_slashes: spelling.prefault('refuse').describe(described.encoded_slashes),
    encoded_delimiters: spelling.prefault('refuse').describe(described.encoded_delimiters),
    encoded_percent: spelling.prefault('refuse').describe(described.encoded_percent),
    encoded_backslashes: spelling.prefault('refuse').describe(described.encoded_backslashes),
  })
  .prefault({})
  .describe(
    'Spellings that upstreams interpret differently; refuse them unless every upstream is known to agree. Postern’s own paths and paths without a route never have them.',
  );

/** `routes[].paths`: the same for one route. */
export const pathsOfRoute = z
  .strictObject({
    semicolons: spelling.optional().describe(described.semicolons),
    encoded_slashes: spelling.optional().describe(described.encoded_slashes),
    encoded_delimiters: spelling.optional().describe(described.encoded_delimiters),
    encoded_percent: spelling.optional().describe(described.encoded_percent),
    encoded_backslashes: spelling.optional().describe(described.encoded_backslashes),
  })
  .optional()
  .describe('Overrides paths for this route, key by key.');
