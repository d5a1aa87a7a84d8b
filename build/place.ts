import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The used part of a module's `import.meta`. */
interface Place {
  readonly url: string;
  readonly dirname: string;
  readonly filename: string;
  /** URL of a package's module for browsers. */
  readonly resolve: (name: string) => string;
}

/** The folder `dist`; parts of the program are in a folder of it. */
const dist = pathToFileURL(`${dirname(__dirname)}/`);

/** Makes the place that a bundled module has by its path in `dist`. */
export function placeOf(file: string): Place {
  const { href: url } = new URL(file, dist);
  const filename = fileURLToPath(url);
  const resolve = (name: string) => new URL(`web/packages/${name.replace('/', '-')}.js`, dist).href;
  return { url, dirname: dirname(filename), filename, resolve };
}
