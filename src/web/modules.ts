import { readFileSync } from 'node:fs';
import { basename, extname } from 'node:path';

const importStatement = /^(import\b[^'"`;]*)(["'])([^"']+)\2/gm;
const sourceMap = /^\/\/# sourceMappingURL=.*$/gm;

/**
 * Reads a browser module with all its imports, from files and packages, and returns its address. Browsers know no packages, and
 * our policy allows no import maps: imports are rewritten to addresses. `add` takes a name and a text, and returns the address.
 */
export function loadModules(entry: URL, add: (name: string, text: string) => string): string {
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
  return load(entry);
}

function find(name: string, from: URL): URL {
  return name.startsWith('.') ? new URL(name, from) : new URL(import.meta.resolve(name));
}
