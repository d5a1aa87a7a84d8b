import { registerHooks } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setTestOfFile } from './tap-of-file.ts';

// Runs the test files it is called with in this process, one after the other, each as a test of its own that has the
// name of the file. Writes TAP.

// Taken out of the arguments before tap sees them: it makes a part of the names of folders of them.
const files = process.argv.splice(2);
const { default: t } = await import('tap');
const tapOfFile = new URL('tap-of-file.ts', import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    return specifier === 'tap' ? { url: tapOfFile, shortCircuit: true } : next(specifier, context);
  },
});

// Each file has the timeout of tap; all of them together have none.
t.setTimeout(0);
for (const file of files)
  t.test(file, async (test) => {
    setTestOfFile(test);
    await import(pathToFileURL(resolve(file)).href);
  });
