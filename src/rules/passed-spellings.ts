/** Ambiguous spellings of characters in a path that upstreams receive as they came (`paths`); any other is refused. */
export interface PassedSpellings {
  /** `;` and `%3b`. */
  readonly semicolons: boolean;
  /** `%2f`. */
  readonly encodedSlashes: boolean;
  /** `%23` and `%3f`. */
  readonly encodedDelimiters: boolean;
  /** `%25` before two hexadecimal digits. */
  readonly encodedPercent: boolean;
  /** `%5c`. */
  readonly encodedBackslashes: boolean;
}

/** The rules of Postern's own paths, and of paths without a route: every ambiguous spelling is refused. */
export const nothingPasses: PassedSpellings = {
  semicolons: false,
  encodedSlashes: false,
  encodedDelimiters: false,
  encodedPercent: false,
  encodedBackslashes: false,
};
