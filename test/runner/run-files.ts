import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Parser, type Result } from 'tap-parser';

/** What became of one test file. */
export interface FileResult {
  /** Its path; or `after` that of the last in its process, for what went wrong when all had ended. */
  readonly file: string;
  readonly assertions: readonly Result[];
  /** Why it failed, or `null` if it passed. */
  readonly problem: string | null;
}

const program = join(import.meta.dirname, 'process.ts');

/**
 * Runs these test files in one process, one after the other, and reports each when it has ended. A file fails too if it
 * has no test, or if its process ends before it, or keeps it longer than `timeoutSeconds`; those after it fail
 * likewise then.
 */
export async function runFiles(
  files: readonly string[],
  timeoutSeconds: number,
  report: (result: FileResult) => void,
): Promise<void> {
  const child = spawn(process.execPath, [program, ...files], {
    env: { ...process.env, TAP: '1', TAP_TIMEOUT: String(timeoutSeconds) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // Later than tap's own timeout, which can't interrupt a file that never yields.
  const watchdog = setTimeout(() => child.kill('SIGKILL'), (timeoutSeconds + 30) * 1000);
  const waiting = [...files];
  let assertions: Result[] = [];
  let passed = true;
  const end = (file: string, problem: string | null) => {
    passed &&= problem === null;
    report({ file, assertions, problem });
    assertions = [];
    watchdog.refresh();
  };

  const parser = new Parser();
  parser.on('result', (result) => {
    // The line of a file is one only where nothing inside it failed or ran, and comes after its `assert`.
    if (!files.includes(result.fullname)) assertions.push(result);
  });
  parser.on('assert', ({ ok, name }) => {
    if (waiting[0] !== name) return;
    waiting.shift();
    if (!ok) end(name, 'failed');
    else end(name, assertions.length === 0 ? 'has no test' : null);
  });
  child.stdout.pipe(parser);
  const [code, signal] = await once(child, 'close');
  clearTimeout(watchdog);
  const ended = `its process ended with ${signal ?? `code ${code}`}`;
  for (const file of waiting) end(file, ended);
  if (assertions.length > 0 || (passed && code !== 0)) end(`after ${files.at(-1)}`, ended);
}
