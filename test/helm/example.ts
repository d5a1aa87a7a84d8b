import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestScope } from '../support/gateway/gateway.ts';
import { renderText, runHelm, withValuesFile } from './helm.ts';

const chart = 'examples/kubernetes/chart';

/** What the example's chart renders to as the release `notes`, with this chart as its dependency. */
export function renderExample(t: TestScope, values: object = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'postern-example-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  // Building the dependency writes into the folder; it is found by its place beside the example.
  cpSync('helm', join(folder, 'helm'), { recursive: true });
  cpSync(chart, join(folder, chart), { recursive: true });
  const built = runHelm(['dependency', 'build', join(folder, chart)]);
  if (built.code !== 0) throw new Error(built.stderr);
  return withValuesFile(values, (file) =>
    renderText(['notes', join(folder, chart), '--no-hooks', '--values', file]),
  );
}
