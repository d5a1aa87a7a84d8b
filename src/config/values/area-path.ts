import { createMayBeRead } from '../../rules/own-areas.ts';
import type { TextRule } from './scalars.ts';

const pattern = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+){1,4}$/;
const isWellKnown = createMayBeRead(['/.well-known']);

/** Creates the rule for the path of an area of Postern's own, such as `example`. */
export function areaPathRule(example: string): TextRule {
  return (path) => {
    if (!pattern.test(path))
      return `must be one to four segments of A-Z, a-z, 0-9, . _ ~ - such as ${example}`;
    if (isWellKnown(path)) return "can't be in /.well-known";
  };
}
