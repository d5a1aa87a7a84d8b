import type { PassedSpellings } from '../../rules/passed-spellings.ts';

const keys = {
  semicolons: 'semicolons',
  encodedSlashes: 'encoded_slashes',
  encodedDelimiters: 'encoded_delimiters',
  encodedPercent: 'encoded_percent',
  encodedBackslashes: 'encoded_backslashes',
} as const satisfies Record<keyof PassedSpellings, string>;

/** A key of `paths`. */
export type PathsKey = (typeof keys)[keyof PassedSpellings];

/** Every key of `paths`. */
export const pathsKeys: readonly PathsKey[] = Object.values(keys);

/** The spellings whose key of `paths` is `pass`. */
export function passedBy(isPassed: (key: PathsKey) => boolean): PassedSpellings {
  return {
    semicolons: isPassed(keys.semicolons),
    encodedSlashes: isPassed(keys.encodedSlashes),
    encodedDelimiters: isPassed(keys.encodedDelimiters),
    encodedPercent: isPassed(keys.encodedPercent),
    encodedBackslashes: isPassed(keys.encodedBackslashes),
  };
}
