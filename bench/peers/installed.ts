import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Where install.sh leaves programs, each with a file that says its version. */
const cache = new URL('../../node_modules/.cache/bench/', import.meta.url);

/** The path of a program that install.sh brings. */
export function installedProgram(name: string): string {
  return fileURLToPath(new URL(name, cache));
}

/** The version of a program that install.sh brings; undefined where it is not installed. */
export function installedVersion(name: string): string | undefined {
  const file = new URL(`${name}.version`, cache);
  return existsSync(installedProgram(name)) && existsSync(file)
    ? readFileSync(file, 'utf8').trim()
    : undefined;
}
