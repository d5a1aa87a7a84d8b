import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import t from 'tap';

/** Folders from the lowest layer up. A file imports from its own folder and from lower layers, never from one beside it. */
const layers: readonly (readonly string[])[] = [
  ['reasons.ts', 'ticks.ts'],
  ['errors.ts'],
  ['http1', 'input', 'log', 'metrics', 'names', 'rules', 'tracing'],
  ['config', 'node-engine'],
  ['stores'],
  ['credentials', 'identity-providers'],
  ['administration'],
  ['http'],
  ['authenticate', 'endpoints', 'proxy'],
  ['forward-auth', 'openapi', 'web'],
  ['runtime'],
  ['gateway'],
  ['listeners'],
  ['serve'],
  ['workers'],
  ['cli'],
  ['main.ts'],
];
/** Rooms of a folder from the lowest up; a file of a room imports from its own and from those below it. */
const roomsOf: Readonly<Record<string, readonly string[]>> = {
  http1: ['message', 'client', 'server'],
  config: ['report', 'values', 'sections', 'rules', ''],
  stores: ['', 'remote', 'sql', 'sqlite', 'postgres', 'redis'],
};
/** Folders that may import less than their layer allows. */
const only: Readonly<Record<string, readonly string[]>> = {
  http1: ['errors.ts'],
  'node-engine': ['errors.ts', 'http1'],
};

/** Folders that may not import another although it is in a lower layer: commands and endpoints share use cases alone. */
const never: Readonly<Record<string, readonly string[]>> = { cli: ['endpoints'] };

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
/** The folder within the layer's folder; empty for its own files. */
const innerRoomOf = (file: string) => file.split('/').slice(1, -1).join('/');
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
        const isBelow = only[room]?.includes(other) ?? layerOf(other) < layerOf(room);
        const allowed = isBelow && !never[room]?.includes(other);
        if (!imports.has(target) || !allowed) wrong.push(`${file} imports ${target}`);
      }
    }
    t.strictSame(wrong, []);
  },
);

t.test('a room of a folder imports from rooms below it alone', async (t) => {
  const wrong: string[] = [];
  for (const [file, targets] of imports) {
    const [folder, room] = [roomOf(file), innerRoomOf(file)];
    const rooms = roomsOf[folder];
    if (rooms === undefined) continue;
    if (!rooms.includes(room)) wrong.push(`${file} is in no room`);
    for (const target of targets) {
      const other = innerRoomOf(target);
      if (roomOf(target) !== folder || other === room) continue;
      if (rooms.indexOf(other) >= rooms.indexOf(room)) wrong.push(`${file} imports ${target}`);
    }
  }
  t.strictSame(wrong, []);
});

t.test('no folder has more than 40 files', async (t) => {
  const counts = new Map<string, number>();
  for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  t.strictSame(
    [...counts].filter(([, count]) => count > 40),
    [],
  );
});

t.test('DESIGN.md has a picture and a table of the same layers', async (t) => {
  const design = readFileSync(join(source, '../DESIGN.md'), 'utf8');
  const expected = layers.map((rooms, layer) => [layer, rooms]);
  const nodes = [...design.matchAll(/\bl([0-9]+)\[([^\]]*)\]/g)];
  t.strictSame(nodes.map(([, layer, rooms]) => [Number(layer), rooms!.split(', ')]).reverse(), expected);
  const rows = [...design.matchAll(/^\| ([0-9]+) \| ([^|]*) \|/gm)];
  const roomsIn = (cell: string) => [...cell.matchAll(/`([^`]*?)\/?`/g)].map(([, room]) => room);
  t.strictSame(rows.map(([, layer, cell]) => [Number(layer), roomsIn(cell!)]).reverse(), expected);
});

t.test('DESIGN.md says in which order to read twelve files, and draws files that exist', async (t) => {
  const design = readFileSync(join(source, '../DESIGN.md'), 'utf8');
  const order = /read these twelve files in this order: ([^.]+(?:\.ts`[^.]*)+)\./.exec(design)?.[1] ?? '';
  const listed = [...order.matchAll(/`([^`]+)`/g)].map(([, file]) => file!);
  t.equal(listed.length, 12);
  const picture = design.slice(design.indexOf('## The path'), design.indexOf('To know the house'));
  const drawn = [...picture.matchAll(/\b([a-z0-9-]+\/[a-z0-9/-]*[a-z])\b/g)].map(([, file]) => `${file}.ts`);
  t.ok(drawn.length > 12);
  t.strictSame(
    [...listed, ...drawn].filter((file) => !imports.has(file)),
    [],
  );
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
