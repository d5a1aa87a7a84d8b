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
