import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type OutputChunk, type Plugin, rolldown } from 'rolldown';
import { minify } from 'rolldown/utils';
import { noticesOf } from './notices.ts';

// node build/bundle.ts [folder]: builds `dist`, or the given folder, which is shipped: the program in parts loaded on demand
// (`program`), the files that it reads at run time, at their paths in `src`, and the loader of the parts (`build/shipped`).

const dataFiles = ['.sql', '.lua', '.css', '.js', '.svg'];
const templates = 'src/forward-auth/templates/';
/** Packages that the console's modules import; they are served to browsers unchanged. */
const browserPackages = ['preact', 'preact/hooks', 'htm'];
const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
/** Packages that stay in `node_modules`: those with addons, and the list of common passwords. `src/package.json` has the others. */
const separate = Object.keys(manifest.dependencies);
/** Optional dependencies of other packages, not installed in production. */
const absent = ['supports-color', 'pg-cloudflare'];

/**
 * Replaces `import.meta` in each source file by a `place` with the same members. They give the path that the file would have in
 * `dist` if it were not bundled, from which it finds the files that it reads. No line is added, so that source maps fit.
 */
const places: Plugin = {
  name: 'places',
  load(id) {
    if (!/\/src\/.*\.ts$/.test(id)) return null;
    const text = readFileSync(id, 'utf8');
    if (!text.includes('import.meta')) return null;
    const file = relative('src', id).replace(/ts$/, 'js');
    const place = `import { placeOf } from '${join(import.meta.dirname, 'place.ts')}'; const place = placeOf('${file}');`;
    return { code: place + text.replaceAll('import.meta', 'place'), moduleType: 'ts' };
  },
};

/** Shortens the local names of undici, a fifth of the program, which no stack trace of ours needs. */
const shortNames: Plugin = {
  name: 'short names',
  async renderChunk(code, { fileName, moduleIds }) {
    if (!moduleIds.every((id) => id.includes('/node_modules/undici/'))) return null;
    const short = await minify(fileName, code, { compress: false, mangle: true, sourcemap: true });
    return short.errors.length === 0 ? { code: short.code, map: short.map! } : null;
  },
};

const folder = process.argv[2] ?? 'dist';
rmSync(folder, { recursive: true, force: true });
const program = await rolldown({
  input: { postern: 'src/main.ts', worker: 'src/workers/worker.ts' },
  platform: 'node',
  // The `paths` in tsconfig.json lead to declarations.
  tsconfig: false,
  external: [...separate, ...absent],
  plugins: [places, shortNames],
});
const { output } = await program.write({
  dir: join(folder, 'program'),
  format: 'cjs',
  strict: true,
  entryFileNames: '[name].js',
  chunkFileNames: '[name].js',
  dynamicImportInCjs: false,
  hoistTransitiveImports: false,
  // The function that `shipped/load.js` runs; as the file already contains it, the loader passes V8 the text without a copy.
  banner: '(globalThis.posternPart = function (exports, require, module, __filename, __dirname) {',
  footer: '})',
  sourcemap: true,
  sourcemapExcludeSources: true,
  // V8 needs twice the memory for a source with any other character.
  charset: 'ascii',
  // Names are kept, because stack traces show them.
  minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
});
const chunks = output.filter((file): file is OutputChunk => file.type === 'chunk');

for (const entry of readdirSync('src', { recursive: true, withFileTypes: true })) {
  const file = join(entry.parentPath, entry.name);
  if (entry.isFile() && (dataFiles.includes(extname(file)) || file.startsWith(templates)))
    cpSync(file, join(folder, relative('src', file)));
}
const browserFolder = join(folder, 'web/packages');
mkdirSync(browserFolder, { recursive: true });
for (const name of browserPackages)
  cpSync(fileURLToPath(import.meta.resolve(name)), join(browserFolder, `${name.replace('/', '-')}.js`));
cpSync('build/shipped', folder, { recursive: true });
cpSync('bin/hand-over.cjs', join(folder, 'hand-over.cjs'));
writeFileSync(
  join(folder, 'package.json'),
  JSON.stringify({
    name: manifest.name,
    version: manifest.version,
    license: manifest.license,
    type: 'commonjs',
    dependencies: manifest.dependencies,
  }),
);
const modules = chunks.flatMap((chunk) => Object.keys(chunk.modules));
writeFileSync(join(folder, 'NOTICES'), noticesOf(modules));
