import { z } from 'zod';

/** A rule about a text: what it demands when the text breaks it, else undefined. */
export type TextRule = (text: string) => string | undefined;

/** A string that is not blank; `rule`, if any, judges it further. */
export function text(rule?: TextRule) {
  return z.string().superRefine((value, context) => {
    const broken = value.trim() === '' ? 'must not be empty' : rule?.(value);
    if (broken !== undefined) context.addIssue(broken);
  });
}

/** A string of that pattern; `rule` says in words what the pattern demands. */
export function matching(pattern: RegExp, rule: string) {
  return z.string().regex(pattern, rule);
}

/** A string whose value appears neither in a problem nor, by `writeOnly` of JSON Schema, in a form. */
export function secret(rule?: TextRule) {
  return text(rule).meta({ writeOnly: true });
}

/**
 * What `parse` makes of a text, for `transform`; it throws a RangeError, whose message is the rule, for what it can't
 * parse.
 */
export function parsedBy<Output>(parse: (text: string) => Output) {
  return (value: string, context: z.RefinementCtx): Output => {
    try {
      return parse(value);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      context.addIssue(error.message);
      return z.NEVER;
    }
  };
}

/** The path of a file, absolute in the output. */
export function filePath() {
  return text((value) => (value.includes('\0') ? 'must be a path' : undefined));
}

/** A whole number; from 1 and without an upper end by default. */
export function whole({ min = 1, max = Number.MAX_SAFE_INTEGER }: { min?: number; max?: number } = {}) {
  const rule =
    max === Number.MAX_SAFE_INTEGER
      ? `must be a whole number of at least ${min}`
      : `must be a whole number from ${min} to ${max}`;
  const withoutQuotes = ({ input }: { readonly input?: unknown }) =>
    typeof input === 'string' && /^\d+$/.test(input) ? `${rule}, without quotes` : rule;
  return z.int({ error: withoutQuotes }).min(min, rule).max(max, rule);
}

/**
 * A map whose keys are names of the administrator's choice. Names are judged also when values are broken, so that all
 * problems come at once; zod's own check of a record's keys would hide what is below a bad name.
 */
export function mapByName<Value extends z.ZodType>(
  pattern: RegExp,
  rule: string,
  value: Value,
  { reserved = [] }: { reserved?: readonly string[] } = {},
) {
  return z.record(z.string().meta({ pattern: pattern.source }), value).superRefine(
    (map, context) => {
      if (typeof map !== 'object' || map === null) return;
      for (const name of Object.keys(map)) {
        const broken = !pattern.test(name) ? rule : reserved.includes(name) ? 'is reserved' : undefined;
        if (broken)
          context.addIssue({ code: 'custom', path: [name], message: broken, params: { at: 'key' } });
      }
    },
    { when: () => true },
  );
}
