import { type RefusalCode, refusals, type ValidationProblem } from '../../errors.ts';

/** Reason for refusing a form; a `ValidationError` is one, too. */
export type Problem =
  | { readonly code: RefusalCode; readonly retryAfterSeconds?: number | undefined }
  | { readonly code: 'validation_error'; readonly problems: readonly ValidationProblem[] };

/** The texts of a problem on a page: above the form, and at its fields by name. */
export interface ProblemTexts {
  readonly notice: string | null;
  readonly fields: Readonly<Record<string, string>>;
}

/** The words of a form. */
export interface FormWords {
  /** Labels of the fields by name. */
  readonly labels: Readonly<Record<string, string>>;
  /** Texts for refusals about a field, by code, with the field's name, and a text above the form if it isn't the usual one. */
  readonly atField?: Readonly<
    Partial<Record<RefusalCode, readonly [field: string, text: string, notice?: string]>>
  >;
  /** Texts for refusals about the form as a whole, by code; `when` is a phrase like `in 15 minutes`. */
  readonly above?: Readonly<Partial<Record<RefusalCode, (when: string) => string>>>;
}

const marked = 'Please correct what is marked below.';

/** Converts a problem to texts that name its cause and the remedy. */
export function problemTexts(problem: Problem | null, words: FormWords): ProblemTexts {
  if (problem === null) return { notice: null, fields: {} };
  if (problem.code === 'validation_error') return tellFields(problem.problems, words);
  const [name, text, above = marked] = words.atField?.[problem.code] ?? [];
  if (name !== undefined && text !== undefined) return { notice: above, fields: { [name]: text } };
  const when = waitText(problem.retryAfterSeconds);
  return { notice: (words.above?.[problem.code] ?? general(problem.code))(when), fields: {} };
}

function tellFields(problems: readonly ValidationProblem[], { labels }: FormWords): ProblemTexts {
  const fields: Record<string, string> = {};
  for (const problem of problems) {
    const name = String(problem.loc.at(-1));
    const label = labels[name];
    if (label !== undefined) fields[name] ??= fieldText(problem, label.toLowerCase());
  }
  const notice = Object.keys(fields).length > 0 ? marked : 'What was sent is not complete. Please try again.';
  return { notice, fields };
}

function fieldText({ type, msg, ctx }: ValidationProblem, label: string): string {
  switch (type) {
    case 'missing':
      return `Enter your ${label}.`;
    case 'string_too_short':
      return ctx?.min_length === 1 ? `Enter your ${label}.` : `Use at least ${ctx?.min_length} characters.`;
    case 'string_too_long':
      return `Use at most ${ctx?.max_length} characters.`;
    case 'value_error':
      return `Your ${label} ${msg.replace(/^Value error, /, '')}.`;
    default:
      return `Your ${label} contains characters that can't be used here.`;
  }
}

/** The wait before the next attempt, rounded up, as the end of a sentence; undefined: unknown. */
export function waitText(seconds: number | undefined): string {
  if (seconds === undefined || seconds <= 5) return 'in a moment';
  if (seconds <= 90) return `in ${Math.ceil(seconds)} seconds`;
  const minutes = Math.ceil(seconds / 60);
  return minutes <= 90 ? `in ${minutes} minutes` : `in ${Math.ceil(minutes / 60)} hours`;
}

function general(code: RefusalCode): (when: string) => string {
  const { status, detail } = refusals[code];
  if (status === 429) return (when) => `There were too many attempts. Try again ${when}.`;
  if (status === 503) return (when) => `This is not available at the moment. Try again ${when}.`;
  return () => `${detail}. Please try again, or ask your administrator.`;
}
