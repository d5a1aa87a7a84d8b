import { expand, readCorpus } from './corpus.ts';

/** Values of `return_to` by which attackers try to lead a browser away, of one kind. */
export interface ReturnToFamily {
  /** What they have in common. */
  readonly name: string;
  /** `home`: each is refused, so that a sign-in leads to `web.home`. `here`: each leads to a path of this origin. */
  readonly leads: 'home' | 'here';
  readonly values: readonly string[];
}

/** All of `test/corpora/return-to.jsonl`. */
export const returnToFamilies: readonly ReturnToFamily[] = readCorpus<ReturnToFamily>('return-to').map(
  (family) => ({ ...family, values: family.values.map((value) => expand(value, {})) }),
);

/** A value in ASCII, for the titles of tests: line separators would break their output. */
export function shownValue(value: string): string {
  const escaped = JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return escaped.length <= 100 ? escaped : `${escaped.slice(0, 100)}…`;
}
