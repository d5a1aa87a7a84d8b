import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { connectRaw } from '../support/clients/raw-client.ts';
import { requireServer } from './judge-upstream.ts';
import { kindsOfServer, type ServerName } from './kinds-of-server.ts';
import { framingReadings, headerReadings, pathReadings, type Reading, readAll } from './readings.ts';
import { startRealServer } from './real-server.ts';

const file = join(import.meta.dirname, '../../docs/upstreams.md');
const text = readFileSync(file, 'utf8');

const tables: Readonly<Record<string, readonly Reading[]>> = {
  Paths: pathReadings,
  Headers: headerReadings,
  'Where a message ends': framingReadings,
};

/** The columns of the tables. */
const columns: readonly (readonly [heading: string, name: ServerName])[] = [
  ['nginx', 'nginx'],
  ['Apache', 'apache'],
  ['PHP-FPM', 'php-fpm'],
  ['PHP-FPM, any header', 'php-fpm, any header'],
  ['php-cgi', 'php-cgi'],
  ['gunicorn', 'gunicorn'],
  ['gunicorn, any header', 'gunicorn, any header'],
  ['uvicorn', 'uvicorn, httptools'],
  ['uvicorn h11', 'uvicorn, h11'],
  ['Daphne', 'daphne, Django'],
  ['net/http', 'net/http'],
  ['node:http', 'node:http'],
  ['Fastify', 'fastify'],
];

/** The lines of the table under a heading, as cells. */
function cellsUnder(heading: string): string[][] {
  const from = text.indexOf(`\n## ${heading}\n`);
  const rows = text
    .slice(from)
    .split('\n')
    .filter((line) => line.startsWith('|'));
  const end = rows.findIndex((_, i) => i > 1 && /^\|\s*-/.test(rows[i + 1] ?? ''));
  return (end < 0 ? rows : rows.slice(0, end)).map((line) =>
    line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim()),
  );
}

/** The document with that table in place of the one under the heading. */
function withTable(document: string, heading: string, table: string): string {
  const from = document.indexOf(`\n## ${heading}\n`);
  const start = document.indexOf('\n|', from) + 1;
  const length = document.slice(start).search(/\n(?!\|)/);
  return document.slice(0, start) + table + document.slice(start + length);
}

t.setTimeout(600_000);

t.test('docs/upstreams.md says what each server makes of it, measured without the gateway', async (t) => {
  const measured = new Map<string, string[][]>(Object.keys(tables).map((heading) => [heading, []]));
  for (const [heading, name] of columns)
    await t.test(name, async (t) => {
      if (!requireServer(t, name)) return;
      const server = await startRealServer(t, kindsOfServer[name]);
      for (const [title, readings] of Object.entries(tables)) {
        const words = await readAll(server, readings);
        measured.get(title)!.push([heading, ...words]);
        const rows = cellsUnder(title);
        const column = rows[0]?.indexOf(heading) ?? -1;
        const documented = Object.fromEntries(rows.slice(2).map((row) => [row[0], row[column]]));
        const found = Object.fromEntries(readings.map(({ what }, i) => [what, words[i]]));
        if (process.env.UPDATE === undefined) t.strictSame(documented, found, `${name}: ${title}`);
      }
    });
  if (process.env.UPDATE === undefined) return;
  let updated = text;
  for (const [title, readings] of Object.entries(tables)) {
    const found = measured.get(title)!;
    const lines = [
      ['', ...found.map(([heading]) => heading!)],
      ['---', ...found.map(() => '---')],
      ...readings.map(({ what }, i) => [what, ...found.map((words) => words[i + 1]!)]),
    ].map((cells) => `| ${cells.join(' | ')} |`);
    updated = withTable(updated, title, lines.join('\n'));
  }
  writeFileSync(file, updated);
});

t.test('requests over the default limits of nginx and Apache are refused by them', async (t) => {
  const head = 'Host: upstream.example\r\nConnection: close\r\n';
  const sent = {
    'a header': `GET /api/open/x HTTP/1.1\r\n${head}X-A: ${'a'.repeat(12 * 1024)}\r\n\r\n`,
    'a target': `GET /api/open/${'a'.repeat(8_192 - 10)} HTTP/1.1\r\n${head}\r\n`,
    'a body': `POST /api/open/x HTTP/1.1\r\n${head}Content-Length: ${2 * 2 ** 20}\r\n\r\n${'a'.repeat(2 * 2 ** 20)}`,
  };
  const wanted = { nginx: [400, 414, 413], apache: [400, 414, 200] } as const;
  for (const name of ['nginx', 'apache'] as const)
    await t.test(name, async (t) => {
      if (!requireServer(t, name)) return;
      const { port } = await startRealServer(t, kindsOfServer[`${name}, its own limits`]);
      for (const [i, [what, bytes]] of Object.entries(sent).entries()) {
        const connection = await connectRaw(port);
        connection.write(bytes);
        const { status } = await connection.response();
        connection.reset();
        t.equal(status, wanted[name][i], what);
      }
    });
});
