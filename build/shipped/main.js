#!/usr/bin/env node
const { handOver } = require('./hand-over.cjs');

if (!handOver(__filename)) require('./load.js').load('./postern.js');
