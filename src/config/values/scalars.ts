import { z } from 'zod';

/** A rule for a string: returns the rule's text if the string breaks it, else undefined. */
export type TextRule = (text: string) => string | undefined;

/** A string that is not blank and follows `rule`, if one is given. */
export function text(rule?: TextRule) {
  return z.string().superRefine((value, context) => {
    const broken = value.trim() === '' ? 'must not be empty' : rule?.(value);
    if (broken !== undefined) context.addIssue(broken);
  });
}

/** A title that people read: without characters that are no text, or that turn the direction of what follows (UAX #9). */
export function title() {
  return text((value) =>
    /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u.test(value)
      ? 'must not contain control characters, line breaks or direction marks'
      : undefined,
  );
}

/** A string that matches the pattern; `rule` states the pattern in words. */
export function matching(pattern: RegExp, rule: string) {
  return z.string().regex(pattern, rule);
}

/** A string that no problem shows and, as it is `writeOnly` in the JSON Schema, no form. */
export function secret(rule?: TextRule) {
  return text(rule).meta({ writeOnly: true });
}

/** A secret of at least `least` bytes: the string has one character for each byte, and a file need not be text. */
export function secretBytes(least: number) {
  const rule = `must be at least ${least} bytes`;
  return z
    .string()
    .refine((value) => value.length >= least, { error: rule })
    .meta({ writeOnly: true, contentEncoding: 'binary' });
}

/** Makes a `transform` of a parser that throws a RangeError, whose message is the broken rule, for a string it can't parse. */
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

/** The path of a file; absolute once the configuration is loaded. */
export function filePath() {
  return text((value) => (value.includes('\0') ? 'must be a path' : undefined));
}

/** A whole number; by default at least 1, with no maximum. */
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
 * A map whose keys are names chosen by the administrator, at most `most` of them. Names are checked even if values are broken, so
 * that all problems are reported at once; zod's own check of record keys would hide problems below an invalid name.
 */
export function mapByName<Value extends z.ZodType>(
  pattern: RegExp,
  rule: string,
  value: Value,
  {
    reserved = [],
    reservedRule = 'is reserved',
    most = Number.POSITIVE_INFINITY,
  }: {
    readonly reserved?: readonly string[];
    readonly reservedRule?: string;
    readonly most?: number;
  } = {},
) {
  return z.record(z.string().meta({ pattern: pattern.source }), value).superRefine(
    (map, context) => {
      if (typeof map !== 'object' || map === null) return;
      if (Object.keys(map).length > most)
        context.addIssue({
          code: 'custom',
          message: `must have at most ${most} entries`,
          params: { at: 'key' },
        });
      for (const name of Object.keys(map)) {
        const broken = !pattern.test(name) ? rule : reserved.includes(name) ? reservedRule : undefined;
        if (broken)
          context.addIssue({ code: 'custom', path: [name], message: broken, params: { at: 'key' } });
      }
    },
    { when: () => true },
  );
}
