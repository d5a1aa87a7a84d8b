import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { LogoFormat } from '../rules/logo-image.ts';
import { loadModules } from './modules.ts';
import type { ConsoleAddresses, ScriptAddresses, Site } from './site.ts';

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

/** Addresses of the files that pages load. */
export type AssetAddresses = Pick<Site, 'logo' | 'icon' | 'style' | 'scripts' | 'console'>;

/** All files that pages load. */
export interface Assets {
  readonly addresses: AssetAddresses;
  /** Finds the asset at a request's path, compared byte for byte. */
  find(path: string): Asset | undefined;
}

const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

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
  const scripts: ScriptAddresses = {
    password: addFile('password.js'),
    token: addFile('token.js'),
    copy: addFile('copy.js'),
    address: addFile('address.js'),
    fresh: addFile('fresh.js'),
    fragment: addFile('fragment.js'),
    cookies: addFile('cookies.js'),
  };
  const icon = addFile('icon.svg');
  const style = addFile('style.css');
  const console: ConsoleAddresses = {
    script: loadModules(new URL('./assets/console/main.js', import.meta.url), addModule),
    style: addFile('console.css'),
  };
  const logoAddress =
    logo === null
      ? null
      : add('logo', `.${logo.format.extension}`, {
          contentType: logo.format.contentType,
          bytes: logo.bytes,
        });
  return {
    addresses: { scripts, icon, style, console, logo: logoAddress },
    find: (requested) => assets.get(requested),
  };
}
