import { readdirSync, readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { connectRaw } from '../support/clients/raw-client.ts';
import { eventually, startForwarding } from '../support/gateway/forwarding.ts';

const root = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

/** The number in the document that the pattern's group matches; line breaks count as spaces. */
function figureIn(t: Test, file: string, pattern: RegExp): number {
  const figure = pattern.exec(read(file).replace(/\s+/g, ' '))?.[1];
  if (figure === undefined) t.fail(`${file} has no figure for ${pattern}`);
  return Number(figure?.replace(',', ''));
}

/** The files under src in which a function is called during `work`. */
async function filesThatRun(work: () => Promise<void>): Promise<Set<string>> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  // What ran while coverage was switched on is not counted.
  await session.post('Profiler.takePreciseCoverage');
  await work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  await session.post('Profiler.stopPreciseCoverage');
  session.disconnect();
  const files = result.map(({ url, functions }) => ({
    file: /\/src\/(.*)$/.exec(url)?.[1],
    ran: functions.some(({ ranges }) => ranges[0]!.count > 0),
  }));
  return new Set(files.flatMap(({ file, ran }) => (file !== undefined && ran ? [file] : [])));
}

t.test('DESIGN counts the files that a forwarded request runs through', async (t) => {
  const gateway = await startForwarding(t, { listen: { engine: 'built_in' } });
  gateway.upstream.response = (_request, response) => response.end('of a known length');
  const client = await connectRaw(gateway.port);
  const credentials: Record<string, string> = {
    'by API key': `X-API-Key: ${gateway.key}`,
    'by access token': `Authorization: Bearer ${gateway.bearer}`,
  };
  for (const [name, credential] of Object.entries(credentials))
    await t.test(name, async (t) => {
      const forward = async () => {
        const logged = () => gateway.logLines().filter(({ path }) => path === '/api/store/x').length;
        const before = logged();
        client.write(`GET /api/store/x HTTP/1.1\r\nHost: a.example\r\n${credential}\r\n\r\n`);
        t.equal((await client.response()).status, 200);
        await eventually(() => logged() > before);
      };
      // The first requests open connections and fill caches.
      await forward();
      await forward();
      // Timers may fire during a measurement, or on a busy machine during several in a row.
      let files = [...(await filesThatRun(forward))];
      for (let same = 0; same < 25; ) {
        const others = await filesThatRun(forward);
        const both = files.filter((file) => others.has(file));
        same = both.length === files.length ? same + 1 : 0;
        files = both;
      }
      t.comment(files.sort().join(' '));
      t.equal(figureIn(t, 'DESIGN.md', new RegExp(`([0-9]+) files ${name}`)), files.length);
    });
});

function linesIn(folder: string): number {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  return files.reduce((sum, file) => sum + read(`${folder}/${file}`).split('\n').length - 1, 0);
}

t.test('DESIGN says how many lines the HTTP engine has, to a hundred', async (t) => {
  const lines = linesIn('src/http1');
  const stated = figureIn(t, 'DESIGN.md', /`http1\/`, some ([0-9,]+) lines/);
  t.ok(Math.abs(stated - lines) <= 100, `${lines} lines, stated as ${stated}`);
});

t.test('DESIGN says how many lines the other engine has, to ten, which are fewer than 500', async (t) => {
  const lines = linesIn('src/node-engine');
  const stated = figureIn(t, 'DESIGN.md', /`node-engine\/`, some ([0-9]+) lines/);
  t.ok(Math.abs(stated - lines) <= 10, `${lines} lines, stated as ${stated}`);
  t.ok(lines < 500);
});

/** One column of a row of the last benchmark, counted from the end: -2 is the share of http-proxy-3's CPU time. */
function measured(t: Test, row: string, column: number): number {
  const cells = read('bench/RESULTS.md')
    .split('\n')
    .find((line) => line.startsWith(`| ${row} `))
    ?.split('|');
  if (cells === undefined) t.fail(`RESULTS.md has no row ${row}`);
  return Number(cells?.at(column));
}

t.test('DESIGN quotes the last run of the benchmark', async (t) => {
  const byKey = /(0\.[0-9]+) of the CPU time of bare http-proxy-3 by API key/;
  t.equal(figureIn(t, 'DESIGN.md', byKey), measured(t, 'postern-key', -2));
  const byToken = /http-proxy-3 by API key and (0\.[0-9]+) by access token/;
  t.equal(figureIn(t, 'DESIGN.md', byToken), measured(t, 'postern-bearer', -2));
});
