import { type CommandResult, runPostern } from './command.ts';

/** Runs `postern <args> --config …` to its end, on the stores of a gateway of the test. */
export function commandsOn(
  configFile: string,
): (args: readonly string[], input?: string) => Promise<CommandResult> {
  return (args, input) => runPostern([...args, '--config', configFile], { input });
}
