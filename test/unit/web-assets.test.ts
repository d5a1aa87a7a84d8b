import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import t from 'tap';
import { loadAssets } from '../../src/web/assets.ts';

const folder = join(import.meta.dirname, '../../src/web/assets');
const path = '/postern';
const logo = {
  bytes: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
  format: { contentType: 'image/svg+xml', extension: 'svg' },
} as const;

t.test('every file for browsers has an address with a hash of its content', async (t) => {
  const { addresses, find } = loadAssets({ path, logo: null });
  const { scripts, style, icon, console } = addresses;
  const byFile = Object.fromEntries(
    [...Object.values(scripts), style, icon, console.style].map((address) => [
      address.replace(/^\/postern\/assets\/(\w+)\.[0-9a-f]{16}(\.\w+)$/, '$1$2'),
      address,
    ]),
  );
  const notFiles = ['tsconfig.json', 'console'];
  const files = readdirSync(folder).filter((file) => !notFiles.includes(file));
  t.strictSame(Object.keys(byFile).sort(), files.sort(), 'none is left out');
  for (const file of files) {
    const bytes = readFileSync(join(folder, file));
    const hash = createHash('sha256').update(bytes).digest('hex');
    t.match(byFile[file], hash.slice(0, 16));
    t.strictSame(Buffer.from(find(byFile[file]!)!.bytes), bytes);
  }
  t.equal(find(style)!.contentType, 'text/css; charset=utf-8');
  t.equal(find(scripts.token)!.contentType, 'text/javascript; charset=utf-8');
  t.equal(find(icon)!.contentType, 'image/svg+xml');
  t.equal(addresses.logo, null);
});

t.test('a module names what it imports by addresses, which change with what is there', async (t) => {
  const { addresses, find } = loadAssets({ path, logo: null });
  const main = Buffer.from(find(addresses.console.script)!.bytes).toString();
  const names = [...main.matchAll(/^import .* from '([^']+)';$/gm)].map(([, name]) => name!);
  t.ok(names.length > 10);
  for (const name of names) t.ok(find(name), name);
  const elsewhere = loadAssets({ path: '/pages', logo: null }).addresses;
  t.match(elsewhere.console.script, /^\/pages\/assets\/main\./);
  t.not(
    elsewhere.console.script.slice(-19),
    addresses.console.script.slice(-19),
    'it imports other addresses',
  );
});

t.test('the build copies every kind of them to dist', async (t) => {
  const script = readFileSync(join(folder, '../../../build/bundle.ts'), 'utf8');
  const copied = /const dataFiles = \[(.*)\]/.exec(script)![1]!;
  const kinds = readdirSync(folder, { encoding: 'utf8' }).map((file) => extname(file));
  for (const kind of new Set(kinds)) if (kind !== '.json' && kind !== '') t.match(copied, `'${kind}'`);
});

t.test('addresses change with the content alone', async (t) => {
  const one = loadAssets({ path, logo }).addresses;
  t.strictSame(loadAssets({ path, logo }).addresses, one);
  const other = loadAssets({ path, logo: { ...logo, bytes: Buffer.from(`${logo.bytes} `) } }).addresses;
  t.not(other.logo, one.logo);
  t.equal(other.style, one.style);
});

t.test("the operator's logo is one of them", async (t) => {
  const { addresses, find } = loadAssets({ path: '/a/b', logo });
  t.match(addresses.logo, /^\/a\/b\/assets\/logo\.[0-9a-f]{16}\.svg$/);
  t.strictSame(find(addresses.logo!), { contentType: 'image/svg+xml', bytes: logo.bytes });
});

t.test('nothing else has an address', async (t) => {
  const { addresses, find } = loadAssets({ path, logo });
  const name = addresses.style.split('/').at(-1)!;
  for (const other of [
    '/postern/assets/',
    '/postern/assets/style.css',
    '/postern/assets/style.0000000000000000.css',
    '/postern/assets/tsconfig.json',
    '/postern/assets/../assets.ts',
    '/postern/assets/%2e%2e/assets.ts',
    `/postern/assets//${name}`,
    `/postern/assets/./${name}`,
    `/assets/${name}`,
    `${addresses.style}?x`,
    `${addresses.style}/`,
    'constructor',
  ]) {
    t.equal(find(other), undefined, other);
  }
});
