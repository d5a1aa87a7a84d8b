import type { VNode } from 'preact';
import { type Field, field } from '../components/field.ts';
import { html } from '../html.ts';
import type { FormWords } from './problem.ts';

/** Parts of a field that follow from the words and the problem of its form. */
type CommonParts = Pick<Field, 'name' | 'label' | 'problem' | 'focus'>;

/**
 * Creates the function that returns the common parts of a form's field, by name. The focus is on the first field with a problem,
 * else on the first empty one.
 */
export function commonPartsOf(
  { labels }: FormWords,
  problems: Readonly<Record<string, string>>,
  isEmpty: (name: string) => boolean,
): (name: string) => CommonParts {
  const names = Object.keys(labels);
  const first = names.find((name) => problems[name] !== undefined) ?? names.find(isEmpty);
  return (name) => ({ name, label: labels[name]!, problem: problems[name], focus: name === first });
}

/** A field for a new password of at least `minLength` code points, with its rules. */
export function newPasswordField(options: CommonParts & { readonly minLength: number }): VNode {
  return field({
    ...options,
    type: 'password',
    autocomplete: 'new-password',
    hint: `At least ${options.minLength} characters. Several words that don't belong together are good. A common password is refused, and so is one that is just your user name.`,
  });
}

/**
 * The token of a form: hidden if it was sent and is good, so that only other problems have to be corrected; otherwise a field,
 * which the script fills from the address and hides.
 */
export function tokenField({
  hint,
  sent,
  ...common
}: CommonParts & { readonly hint: string; readonly sent: string }): VNode {
  if (sent !== '' && common.problem === undefined)
    return html`<input type="hidden" name=${common.name} value=${sent} />`;
  return field({ ...common, hint, type: 'text', autocomplete: 'off', value: sent, filledByScript: true });
}
