import type { Call } from './command.ts';
import { readConfig, requireConfig } from './configuration.ts';
import { printJsonAlone, printResult } from './output.ts';

/** `check`: every problem of the configuration at once; as JSON, the list of them. */
export async function check(call: Call): Promise<void> {
  const read = readConfig(call);
  const problems = read.problems ?? [];
  if (problems.length > 0) {
    await printJsonAlone(
      call,
      problems.map((problem) => ({ file: read.file, ...problem })),
    );
  }
  requireConfig(read);
  await printResult(call, [], `${read.file}: no problems`);
}
