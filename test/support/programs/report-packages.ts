import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const file = process.env.LOADED_PACKAGES;
const reported = new Set<string>();

// Loaded before a program: writes the name of each package that it loads to a file, one for each process.
registerHooks({
  load(url, context, next) {
    const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1];
    if (file !== undefined && name !== undefined && !reported.has(name)) {
      reported.add(name);
      appendFileSync(`${file}-${process.pid}`, `${name}\n`);
    }
    return next(url, context);
  },
});
