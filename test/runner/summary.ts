import type { Result } from 'tap-parser';
import { stringify } from 'yaml';
import type { FileResult } from './run-files.ts';

/** Writes a line for every file that passed and all there is to say of one that didn't, and counts. */
export interface Summary {
  add(result: FileResult): void;
  /** Writes what was skipped, which files failed, and the totals; whether all `files` passed. */
  end(files: number): boolean;
}

export function createSummary(write: (line: string) => void): Summary {
  const sinceMs = performance.now();
  const failures: string[] = [];
  const skips: string[] = [];
  let passedFiles = 0;
  const totals = { total: 0, pass: 0, fail: 0, skip: 0 };

  function add({ file, assertions, problem }: FileResult): void {
    const skipped = assertions.filter(isSkipped);
    const failed = assertions.filter((assertion) => !assertion.ok && !isSkipped(assertion));
    totals.total += assertions.length;
    totals.skip += skipped.length;
    totals.fail += failed.length;
    totals.pass += assertions.length - skipped.length - failed.length;
    skips.push(...skipped.map(({ fullname, skip, todo }) => `skipped: ${fullname} (${skip || todo})`));
    if (problem === null) {
      passedFiles++;
      write(`ok ${file} (${assertions.length})`);
      return;
    }
    const failure = `not ok ${file}: ${problem}`;
    failures.push(failure);
    write([failure, ...failed.map(describeFailure)].join('\n'));
  }

  function end(files: number): boolean {
    for (const line of [...skips, ...failures]) write(line);
    const { total, pass, fail, skip } = totals;
    const seconds = Math.round((performance.now() - sinceMs) / 1000);
    write(`${passedFiles} of ${files} files passed in ${seconds} s`);
    write(`${total} assertions: ${pass} passed, ${fail} failed, ${skip} skipped`);
    return failures.length === 0 && passedFiles === files && files > 0;
  }

  return { add, end };
}

function isSkipped({ skip, todo }: Result): boolean {
  return Boolean(skip || todo);
}

function describeFailure({ fullname, diag }: Result): string {
  const details = diag === null ? '' : stringify(diag).trimEnd();
  return `  ${[fullname, ...details.split('\n')].join('\n    ')}`;
}
