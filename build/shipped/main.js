#!/usr/bin/env node
const { existsSync } = require('node:fs');
const { enableCompileCache } = require('node:module');
const { join } = require('node:path');
const { handOver } = require('./hand-over.cjs');

if (!handOver(__filename)) {
  const { load, cacheFile } = require('./load.js');
  // Where none was shipped for this Node, it keeps one by itself, if it may write there.
  if (!existsSync(cacheFile('./postern.js')))
    enableCompileCache(join(__dirname, '../node_modules/.cache/node'));
  load('./postern.js');
}
