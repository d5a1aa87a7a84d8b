import { formatDuration } from '../values/durations-and-sizes.ts';
import type { Rule } from './rule.ts';

/** A key that signs for less time than it is published before would have to be published before the one it follows. */
const publishedInTime: Rule = ({ signing_keys: keys }, { report, isWritten }) => {
  const { rotate_every: every, publish_ahead: ahead } = keys ?? {};
  if (every === undefined || every === null || ahead === undefined || ahead <= every) return;
  if (isWritten(['signing_keys', 'publish_ahead']))
    report(
      ['signing_keys', 'publish_ahead'],
      `must be at most signing_keys.rotate_every, ${formatDuration(every)}`,
    );
  else
    report(
      ['signing_keys', 'rotate_every'],
      `must be at least signing_keys.publish_ahead, ${formatDuration(ahead)}`,
    );
};

/** The rules of the section `signing_keys`. */
export const signingKeyRules: readonly Rule[] = [publishedInTime];
