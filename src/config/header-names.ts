import { framingNames, normalisedName } from '../rules/known-headers.ts';
import type { TextRule } from './scalars.ts';

/** The name of a header that can be kept from upstreams (RFC 9110 §5.1). */
export const droppableNameRule: TextRule = (name) => {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return 'must be the name of a header';
  if (framingNames.has(normalisedName(name))) return 'is written anew on every request: it can’t be dropped';
};
