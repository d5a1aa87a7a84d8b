import { LineCounter, parseDocument, type YAMLError } from 'yaml';
import type { Finding } from './problems.ts';

// The parser's own messages quote the text, which may be a secret that lacks quotes.
const rules: Partial<Record<YAMLError['code'], string>> = {
  BAD_INDENT: 'is not valid YAML: wrong indentation, or a { or [ above is not closed',
  TAB_AS_INDENT: 'is not valid YAML: tab as indentation, use spaces',
  BAD_SCALAR_START: 'is not valid YAML: a string that starts with this character needs quotes',
  BLOCK_AS_IMPLICIT_KEY: 'is not valid YAML: a string that contains ": " needs quotes',
  BLOCK_IN_FLOW:
    'is not valid YAML: a string that contains ": " needs quotes, and a { or [ has no lists with -',
  MISSING_CHAR: 'is not valid YAML: unclosed quote or bracket',
  MULTIPLE_DOCS: 'must be one YAML document',
  RESOURCE_EXHAUSTION: 'is nested too deeply',
  TAG_RESOLVE_FAILED: 'YAML tags are not supported: a string that starts with ! needs quotes',
};

/** Parses YAML 1.2, whatever version the text claims. Duplicate keys are left to {@link ./tree.ts readTree}. */
export function parseYaml(text: string) {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    schema: 'core',
    merge: false,
    resolveKnownTags: false,
    uniqueKeys: false,
    prettyErrors: false,
    lineCounter: lines,
  });
  const findings = [...document.errors, ...document.warnings].map(
    ({ code, pos }): Finding => ({
      path: [],
      rule: rules[code] ?? `is not valid YAML: ${code.toLowerCase().replaceAll('_', ' ')}`,
      offset: pos[0],
    }),
  );
  // Even with several documents, the nodes of the first are complete enough to validate.
  const isReadable = document.errors.every(({ code }) => code === 'MULTIPLE_DOCS');
  return { document, lines, findings, isReadable };
}
