import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';

t.test('serving loads no HTTP client of Node’s own', async (t) => {
  const program = `
    await import(${JSON.stringify(new URL('../../src/serve/start-gateway.ts', import.meta.url))});
    console.log(process.moduleLoadList.filter((name) => name.includes('undici')).length);
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
  t.equal(
    stdout,
    '0\n',
    'an import of node:http would, at 50 ms of CPU a start: src/http1/message/node-http.ts',
  );
});

const src = join(import.meta.dirname, '../../src');

/** The files that importing this one loads, types and imports by need left out. */
function loadedBy(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found;
  found.add(file);
  const imports = readFileSync(file, 'utf8').matchAll(/^import (?!type )[^;]*?'(\.[^']+\.ts)';$/gm);
  for (const [, path] of imports) loadedBy(join(file, '..', path!), found);
  return found;
}

t.test('a start loads no pages, providers, OpenAPI document, tracing or second engine', async (t) => {
  const loaded = [...loadedBy(join(src, 'serve/start-gateway.ts'))].map((file) => relative(src, file));
  t.ok(loaded.includes('endpoints/login.ts'));
  const byNeed =
    /^(?:openapi|web\/(?:endpoints|pages|components)|node-engine)\/|^endpoints\/(?:provider-(?!paths)|back-channel)|^gateway\/(?:identity-providers|web-endpoints)\.ts|^tracing\/open-telemetry/;
  t.strictSame(
    loaded.filter((file) => byNeed.test(file)),
    [],
  );
});
