import type { VNode } from 'preact';
import { field } from '../components/field.ts';
import { html } from '../html.ts';

/**
 * The token of a form. One that was sent and is good stays, unseen: only what else is wrong has to be corrected. Otherwise
 * it is a field, which the script fills from the address and hides.
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

/** The first field of a form that the keyboard should begin in: the first with a problem, else the first that is empty. */
export function firstField(
  names: readonly string[],
  problems: Readonly<Record<string, string>>,
  isEmpty: (name: string) => boolean,
): string | undefined {
  return names.find((name) => problems[name] !== undefined) ?? names.find(isEmpty);
}
