import { isHeaderText } from '../../rules/header-text.ts';
import type { TextRule } from './scalars.ts';

/** The value of a header that Postern sends. */
export const headerValueRule: TextRule = (value) => {
  if (!isHeaderText(value)) return 'must not contain control characters, nor begin or end with a space';
};
