import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, extname } from 'node:path';
import type { LogoFormat } from '../rules/logo-image.ts';
import { type Site, scriptNames } from './site.ts';

/** A file for browsers. Its address contains a hash of its content, so that it may be cached forever. */
export interface Asset {
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** The operator's logo, as `logoFormat` recognised it. */
export interface Logo {
  readonly bytes: Uint8Array;
  readonly format: LogoFormat;
}

/** All files that pages load. */
export interface Assets {
  readonly addresses: Pick<Site, 'logo' | 'icon' | 'style' | 'scripts' | 'console'>;
  /** Finds the asset at a request's path, compared byte for byte. */
  find(path: string): Asset | undefined;
}

const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const importStatement = /^(import\b[^'"`;]*)(["'])([^"']+)\2/gm;
const sourceMap = /^\/\/# sourceMappingURL=.*$/gm;

/**
 * Reads the assets once, at the start. `path` is the area's, such as `/postern`; addresses are
 * `<path>/assets/<name>.<hash>.<extension>`.
 */
export function loadAssets({ path, logo }: { readonly path: string; readonly logo: Logo | null }): Assets {
  const assets = new Map<string, Asset>();
  const add = (name: string, extension: string, asset: Asset): string => {
    const hash = createHash('sha256').update(asset.bytes).digest('hex').slice(0, 16);
    const address = `${path}/assets/${name}.${hash}${extension}`;
    assets.set(address, asset);
    return address;
  };
  const addFile = (file: string): string => {
    const extension = extname(file);
    const bytes = readFileSync(new URL(`./assets/${file}`, import.meta.url));
    return add(file.slice(0, -extension.length), extension, { contentType: contentTypes[extension]!, bytes });
  };
  const addModule = (name: string, text: string): string =>
    add(name, '.js', { contentType: contentTypes['.js']!, bytes: Buffer.from(text) });
  const scripts = scriptNames.map((name) => [name, addFile(`${name}.js`)]);
  const main = new URL('./assets/console/main.js', import.meta.url);
  const logoAddress =
    logo === null
      ? null
      : add('logo', `.${logo.format.extension}`, {
          contentType: logo.format.contentType,
          bytes: logo.bytes,
        });
  return {
    addresses: {
      scripts: Object.fromEntries(scripts),
      icon: addFile('icon.svg'),
      style: addFile('style.css'),
      console: { ...loadModules(main, addModule), style: addFile('console.css') },
      logo: logoAddress,
    },
    find: (requested) => assets.get(requested),
  };
}

/**
 * Reads a browser module with all its imports, from files and packages, and returns its address, and those of all it imports.
 * Browsers know no packages, and our policy allows no import maps: imports are rewritten to addresses. `add` takes a name and a
 * text, and returns the address.
 */
function loadModules(
  entry: URL,
  add: (name: string, text: string) => string,
): Pick<Site['console'], 'script' | 'imports'> {
  const addresses = new Map<string, string>();
  const open = new Set<string>();

  function load(file: URL): string {
    const known = addresses.get(file.href);
    if (known !== undefined) return known;
    if (open.has(file.href)) throw new Error(`${file.href} imports itself, by way of others`);
    open.add(file.href);
    const text = readFileSync(file, 'utf8')
      .replace(sourceMap, '')
      .replace(importStatement, (_, before, quote, name) => before + quote + load(find(name, file)) + quote);
    const address = add(basename(file.pathname, extname(file.pathname)), text);
    addresses.set(file.href, address);
    return address;
  }
  const script = load(entry);
  return { script, imports: [...addresses.values()].filter((address) => address !== script) };
}

function find(name: string, from: URL): URL {
  return name.startsWith('.') ? new URL(name, from) : new URL(import.meta.resolve(name));
}
