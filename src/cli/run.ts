import { serve } from './serve.ts';

/** Runs the command line; gives the exit code: 0 done, 1 failed, 2 wrong usage or configuration. */
export async function run(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args;
  if (command === 'serve') return serve(rest);
  process.stderr.write('postern: usage\n');
  return 2;
}
