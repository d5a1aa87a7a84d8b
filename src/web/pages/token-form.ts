import type { VNode } from 'preact';
import { field } from '../components/field.ts';
import { html } from '../html.ts';

/**
 * The token of a form: hidden if it was sent and is good, so that only other problems have to be corrected; otherwise a field,
 * which the script fills from the address and hides.
 */
export function tokenField(options: {
  readonly label: string;
  readonly hint: string;
  readonly sent: string;
  readonly problem: string | undefined;
  readonly focus: boolean;
}): VNode {
  const { label, hint, sent, problem, focus } = options;
  if (sent !== '' && problem === undefined) return html`<input type="hidden" name="token" value=${sent} />`;
  return field({
    name: 'token',
    label,
    hint,
    type: 'text',
    autocomplete: 'off',
    value: sent,
    problem,
    focus,
    filledByScript: true,
  });
}

/** The field that gets the focus: the first with a problem, else the first empty one. */
export function firstField(
  names: readonly string[],
  problems: Readonly<Record<string, string>>,
  isEmpty: (name: string) => boolean,
): string | undefined {
  return names.find((name) => problems[name] !== undefined) ?? names.find(isEmpty);
}
