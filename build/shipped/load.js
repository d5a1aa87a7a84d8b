// Loads the parts of the program, each with the code that V8 had compiled for it when Postern was built (build/code-cache.ts).
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { Script } = require('node:vm');

const folder = join(__dirname, 'program');
/** Module, script and error of each part, by name; no script if Node's own loader has loaded it. */
const parts = new Map();

/** Runs a part, unless it has been loaded already, and returns its exports. */
function load(name) {
  const known = parts.get(name);
  // A part that has failed fails again, as a module does.
  if (known?.error !== undefined) throw known.error;
  if (known !== undefined) return known.module.exports;
  const filename = join(folder, name);
  const cache = readCodeCache(name);
  let script;
  // Node maps stack traces only in files that its own loader has loaded; and that one keeps a cache where none was shipped.
  if (process.sourceMapsEnabled || cache === undefined) require(filename);
  else {
    script = compile(name, cache);
    script.runInThisContext();
  }
  const run = globalThis.posternPart;
  const part = { module: { exports: {} }, script, error: undefined };
  parts.set(name, part);
  try {
    run(part.module.exports, requireFromPart, part.module, filename, folder);
  } catch (error) {
    part.error = error;
    throw error;
  }
  return part.module.exports;
}

/** Makes the script of a part. V8 rejects a cache that it can't use, and compiles the source instead. */
function compile(name, cachedData) {
  const filename = join(folder, name);
  return new Script(readFileSync(filename, 'utf8'), { filename, cachedData });
}

function requireFromPart(name) {
  return name.startsWith('./') ? load(name) : require(name);
}

/** The file of a part's code cache. Its name has what the cache depends on, so that no other Node reads it. */
function cacheFile(name) {
  return join(folder, `${name}.${process.arch}-${process.versions.v8}.cache`);
}

function readCodeCache(name) {
  try {
    return readFileSync(cacheFile(name));
  } catch {
    return undefined;
  }
}

module.exports = { load, compile, parts, cacheFile };
