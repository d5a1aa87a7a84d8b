import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The members of a module's `import.meta` that the sources use. */
interface Place {
  readonly url: string;
  readonly dirname: string;
  readonly filename: string;
  /** URL of a package's module for browsers. */
  readonly resolve: (name: string) => string;
}

/** The folder `dist`; this code runs in its subfolder `program`. */
const dist = pathToFileURL(`${dirname(__dirname)}/`);

/** Creates the place of a bundled module from the path that it would have in `dist`. */
export function placeOf(file: string): Place {
  const { href: url } = new URL(file, dist);
  const filename = fileURLToPath(url);
  const resolve = (name: string) => new URL(`web/packages/${name.replace('/', '-')}.js`, dist).href;
  return { url, dirname: dirname(filename), filename, resolve };
}
