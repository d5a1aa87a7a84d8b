import { parseArgs } from 'node:util';
import { loadConfig } from '../config/load.ts';
import { formatProblem } from '../config/problems.ts';
import { startGateway } from '../gateway.ts';
import { createLog } from '../log.ts';

export async function serve(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { config: { type: 'string' }, quickstart: { type: 'boolean' } },
  });
  const file = values.config!;
  const { config, problems } = loadConfig(file, process.env);
  if (config === undefined) {
    for (const p of problems!) process.stderr.write(formatProblem(file, p) + '\n');
    return 2;
  }
  const log = createLog({ level: config.log.level });
  const gateway = await startGateway(config, log);
  if (gateway.bootstrapToken) process.stderr.write(`postern: bootstrap token: ${gateway.bootstrapToken}\n`);
  await new Promise<void>((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
  await gateway.stop();
  return 0;
}
