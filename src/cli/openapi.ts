import { openApiDocument } from '../openapi/document.ts';
import type { Call } from './command.ts';
import { findConfig, requireConfig } from './configuration.ts';
import { writeOut } from './terminal.ts';

/** `openapi`: prints the document of the gateway whose configuration is found; without any, that of `api_path: /api`. */
export async function printDocument(call: Call): Promise<void> {
  const document = openApiDocument(apiPathOf(call));
  await writeOut(call.terminal, `${JSON.stringify(document, null, 2)}\n`);
}

/**
 * The `api_path` of the configuration; undefined without one. Throws Failure `configuration` if `--config` names an invalid one;
 * one that was found may lack the environment of the gateway, and leaves the default, with a line that says so.
 */
function apiPathOf(call: Call): string | undefined {
  const read = findConfig(call);
  if (read === undefined) return undefined;
  if (read.config !== undefined || call.text('config')) return requireConfig(read).api_path;
  call.terminal.stderr.write(
    `postern: ${read.file} has problems (postern check): the paths below are those of api_path: /api\n`,
  );
  return undefined;
}
