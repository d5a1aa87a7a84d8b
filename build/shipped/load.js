// Loads the parts of the program, each with the code that V8 had compiled for it when Postern was built (build/code-cache.ts).
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { Script } = require('node:vm');

const folder = join(__dirname, 'program');
const opening = '(function (exports, require, module, __filename, __dirname) {';
/** Parts that have run, by name: their module and script. */
const parts = new Map();

/** Runs a part, unless it has run already, and returns its exports. */
function load(name) {
  const known = parts.get(name);
  if (known !== undefined) return known.module.exports;
  const script = compile(name, readCodeCache(name));
  const module = { exports: {} };
  parts.set(name, { module, script });
  script.runInThisContext()(module.exports, requireFromPart, module, join(folder, name), folder);
  return module.exports;
}

/** Makes the script of a part. V8 refuses a cache that another version of it has made, and compiles the source. */
function compile(name, cachedData) {
  const filename = join(folder, name);
  const source = `${opening}${readFileSync(filename, 'utf8')}\n})`;
  return new Script(source, { filename, columnOffset: -opening.length, cachedData });
}

function requireFromPart(name) {
  return name.startsWith('./') ? load(name) : require(name);
}

function readCodeCache(name) {
  try {
    return readFileSync(join(folder, `${name}.cache`));
  } catch {
    return undefined;
  }
}

// Node maps the stacks of what its own loader has loaded, and no other.
const loadWithSourceMap = (name) => require(join(folder, name));

module.exports = { load: process.sourceMapsEnabled ? loadWithSourceMap : load, compile, parts };
