import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Path, below the folder of an installation, of the configuration's JSON Schema. */
export const schemaFile = 'docs/config.schema.json';

/** The folder of the checkout, package or archive that runs, found by its schema; undefined for an image, which has none. */
export function installedFolder(): string | undefined {
  // In an archive the program is one folder deeper.
  return ['../../../', '../../../../']
    .map((up) => fileURLToPath(new URL(up, import.meta.url)))
    .find((folder) => existsSync(join(folder, schemaFile)));
}

/** Path of a file as written in a folder: relative if the file is below it, so that it stays right where the folder is moved. */
export function pathFrom(folder: string, file: string): string {
  const path = relative(folder, file);
  return path.startsWith('..') ? file : `./${path}`;
}

/** Postern's command as a person types it in a folder; `installed` is the folder of the installation. */
export function commandIn(folder: string, env: NodeJS.ProcessEnv, installed = installedFolder()): string {
  // npx leaves no command behind.
  if (env.npm_command === 'exec') return 'npx @postern/gateway';
  const launcher = installed === undefined ? undefined : join(installed, 'postern');
  if (launcher === undefined || !existsSync(launcher)) return 'postern';
  const path = pathFrom(folder, launcher);
  return path === launcher && isCommand('postern', env.PATH) ? 'postern' : shellWord(path);
}

/** True if a shell with that `PATH` finds a program of that name. */
function isCommand(name: string, path = ''): boolean {
  return path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return folder !== '';
    } catch {
      return false;
    }
  });
}

/** A text as one word of a shell, in quotes if it needs them. */
export function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
