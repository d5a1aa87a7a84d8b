import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import t from 'tap';

const source = join(import.meta.dirname, '../../src');
const imported = /^(?:import|export) (?!type\b)(?:[^';]*?\bfrom )?'(\.{1,2}\/[^']+)'/gm;

/** The files that are loaded with these, without those that are imported when something needs them. */
function loadedWith(...first: readonly string[]): string[] {
  const loaded = new Set(first);
  // Files that are added meanwhile are visited, too.
  for (const file of loaded) {
    const text = readFileSync(join(source, file), 'utf8');
    for (const [, to] of text.matchAll(imported)) loaded.add(normalize(join(dirname(file), to!)));
  }
  return [...loaded].sort();
}

/** Parts of a gateway that a supervisor has no use for. */
const ofGateway = [
  ...['authenticate', 'endpoints', 'forward-auth', 'gateway', 'identity-providers', 'names', 'node-engine'],
  ...['openapi', 'tracing', 'web', 'http1/client', 'stores/sql', 'stores/postgres', 'stores/redis'],
];
/** What a supervisor asks these parts without a gateway. */
const asked = ['gateway/routes-only-in.ts'];

t.test('a supervisor loads no gateway', async (t) => {
  const loaded = loadedWith('main.ts', 'cli/serve/serve.ts', 'workers/start-workers.ts');
  t.ok(loaded.includes('workers/worker-group.ts'), 'imports are followed');
  const needless = loaded.filter((file) => ofGateway.some((folder) => file.startsWith(`${folder}/`)));
  t.strictSame(needless, asked);
});

t.test('a gateway of one process loads no supervisor', async (t) => {
  const loaded = loadedWith('main.ts', 'cli/serve/serve.ts', 'serve/start-gateway.ts');
  t.ok(loaded.includes('gateway/compose.ts'), 'imports are followed');
  t.strictSame(
    loaded.filter((file) => file.startsWith('workers/')),
    ['workers/process-memory.ts'],
  );
});
