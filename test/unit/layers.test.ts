import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import t from 'tap';

/** Folders from the lowest layer up. A file imports from its own folder and from lower layers, never from one beside it. */
const layers: readonly (readonly string[])[] = [
  ['reasons.ts'],
  ['errors.ts'],
  ['http1', 'log', 'metrics', 'names', 'rules', 'tracing'],
  ['config', 'node-engine'],
  ['stores'],
  ['credentials', 'identity-providers'],
  ['administration'],
  ['http', 'input'],
  ['authenticate', 'endpoints', 'proxy'],
  ['forward-auth', 'openapi', 'web'],
  ['gateway'],
  ['workers'],
  ['cli'],
  ['main.ts'],
];
/** Folders that may import less than their layer allows. */
const only: Readonly<Record<string, readonly string[]>> = {
  http1: ['errors.ts'],
  'node-engine': ['errors.ts', 'http1'],
};

const source = join(import.meta.dirname, '../../src');
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
);
const specifier = /(?:\bfrom\s+|\bimport\s+|\bimport\s*\(\s*)'(\.{1,2}\/[^']+)'/g;

function importsOf(file: string): string[] {
  const text = readFileSync(join(source, file), 'utf8');
  return [...text.matchAll(specifier)].map(([, to]) => normalize(join(dirname(file), to!)));
}
const imports = new Map(files.map((file) => [file, importsOf(file)]));
const roomOf = (file: string) => file.split('/')[0]!;
const layerOf = (room: string) => layers.findIndex((rooms) => rooms.includes(room));

t.test(
  'every file has a layer, and imports only what lies below it or beside it in its folder',
  async (t) => {
    const wrong: string[] = [];
    for (const [file, targets] of imports) {
      const room = roomOf(file);
      if (layerOf(room) < 0) wrong.push(`${file} is in no layer`);
      for (const target of targets) {
        const other = roomOf(target);
        if (other === room && room !== file) continue;
        const allowed = only[room]?.includes(other) ?? layerOf(other) < layerOf(room);
        if (!imports.has(target) || !allowed) wrong.push(`${file} imports ${target}`);
      }
    }
    t.strictSame(wrong, []);
  },
);

t.test('DESIGN.md has a picture and a table of the same layers', async (t) => {
  const design = readFileSync(join(source, '../DESIGN.md'), 'utf8');
  const expected = layers.map((rooms, layer) => [layer, rooms]);
  const nodes = [...design.matchAll(/\bl([0-9]+)\[([^\]]*)\]/g)];
  t.strictSame(nodes.map(([, layer, rooms]) => [Number(layer), rooms!.split(', ')]).reverse(), expected);
  const rows = [...design.matchAll(/^\| ([0-9]+) \| ([^|]*) \|/gm)];
  const roomsIn = (cell: string) => [...cell.matchAll(/`([^`]*?)\/?`/g)].map(([, room]) => room);
  t.strictSame(rows.map(([, layer, cell]) => [Number(layer), roomsIn(cell!)]).reverse(), expected);
});

t.test('no file imports itself by way of others', async (t) => {
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' > '));
    else if (!done.has(file)) for (const target of imports.get(file) ?? []) visit(target, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  t.strictSame(circles, []);
});
