import type { VNode } from 'preact';
import { field } from '../components/field.ts';

/** A field for a new password, with its rules. */
export function newPasswordField(options: {
  readonly name: string;
  readonly label: string;
  /** Minimum length in code points. */
  readonly minLength: number;
  readonly problem: string | undefined;
  readonly focus: boolean;
}): VNode {
  const { minLength } = options;
  return field({
    ...options,
    type: 'password',
    autocomplete: 'new-password',
    hint: `At least ${minLength} characters. Several words that don't belong together are good. Your user name and common passwords are refused.`,
  });
}
