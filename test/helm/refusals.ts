import type { Test } from 'tap';
import { stringify } from 'yaml';
import { leastValues, render } from './helm.ts';

/** What is changed in the least values, and in the arguments of helm. */
export interface Change {
  readonly name: string;
  readonly config?: object;
  readonly values?: object;
  readonly args?: readonly string[];
}

/** A change that can't work, and what helm says of it. */
export interface Refusal extends Change {
  readonly says: RegExp;
}

function changed({ config, values }: Change): object {
  return { ...leastValues, ...values, config: { ...leastValues.config, ...config } };
}

/** A test for each row, that it is refused as it says. */
export function testRefusals(t: Test, rows: readonly Refusal[]): void {
  for (const row of rows)
    t.test(row.name, async (t) => {
      const all = changed(row);
      t.throws(() => render(all, { args: row.args ?? [] }), { message: row.says }, stringify(all));
    });
}

/** A test for each row, that it is taken: the other side of a refusal's edge. */
export function testTaken(t: Test, rows: readonly Change[]): void {
  for (const row of rows)
    t.test(row.name, async (t) => {
      const all = changed(row);
      t.doesNotThrow(() => render(all, { args: row.args ?? [] }), stringify(all));
    });
}
