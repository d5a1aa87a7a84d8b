import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { isMap, parseDocument } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/report/problems.ts';

/**
 * A sentence, a file with `»` before each location that is reported, and what is reported there, in order; what
 * exceeds the marks is at the last. The required keys are added below unless the file has a tenant.
 */
export type Row = [sentence: string, yaml: string, ...problems: string[]];

/** The keys that every configuration needs, but for a route. */
export const required = 'tenant: acme\nbase_url: https://acme.example.com\n';

/** The text with a route, and an upstream for it, where it is a map that has none. */
function withRoute(text: string): string {
  const document = parseDocument(text, { uniqueKeys: false });
  if (document.errors.length > 0 || !isMap(document.contents) || document.has('routes')) return text;
  const upstreams = document.get('upstreams');
  const [first] = isMap(upstreams) ? upstreams.items : [];
  const name = document.has('upstreams') ? String(first?.key ?? 'app') : 'app';
  const routed = `${text}\nroutes: [{ prefix: /, upstream: ${name} }]\n`;
  return document.has('upstreams') ? routed : `${routed}upstreams: { app: { url: builtin:echo } }\n`;
}

/** The same with a route, for a file that is written whole. */
export const requiredAndRoute = `${required}upstreams: { app: { url: builtin:echo } }\nroutes: [{ prefix: /, upstream: app }]\n`;

/** The environment of every load here. */
export const env = {
  SHORT: 'geheim',
  LONG: 'correct horse battery staple',
  WORD: 'many',
  TOKEN: '01234567890123456789',
  PORT: '8081',
  SIZE: '2048',
  YES: 'true',
  NO: 'no',
};

/** Loads a file of that text and the required keys, beside `files`, and expects no problem. */
export function loadGood(t: Test, yaml: string, files: Record<string, string | Record<string, string>> = {}) {
  const folder = t.testdir({ 'postern.yaml': withRoute(`${yaml}\n${required}`), ...files });
  const loaded = loadConfig(join(folder, 'postern.yaml'), env);
  t.strictSame(loaded.problems ?? [], []);
  return { config: loaded.config!, sources: loaded.sources, folder };
}

/** Loads the file of each row and expects its problems, all of them; no value with `geheim` in it is ever shown. */
export function testRows(rows: readonly Row[]): void {
  for (const [sentence, marked, ...expected] of rows)
    t.test(sentence, async (t) => {
      const { yaml, places } = unmark(marked);
      const file = join(t.testdir(), 'postern.yaml');
      const text = yaml.includes('tenant:') ? yaml : `${yaml}\n${required}`;
      writeFileSync(file, withRoute(text));
      const { problems = [] } = loadConfig(file, env);
      t.strictSame(
        problems.map((problem) => formatProblem('f', problem)),
        expected.map((text, index) => `f:${places[index] ?? places.at(-1)}: ${text}`),
      );
      t.notMatch(JSON.stringify(problems.map(({ value }) => value)), /geheim/);
    });
}

/** The text without its marks, and where each was, as `line:column`. */
function unmark(marked: string): { yaml: string; places: string[] } {
  const places: string[] = [];
  let yaml = '';
  for (const part of marked.split(/(?=»)/)) {
    if (part.startsWith('»')) {
      const lines = yaml.split('\n');
      places.push(`${lines.length}:${lines.at(-1)!.length + 1}`);
    }
    yaml += part.replace('»', '');
  }
  return { yaml, places };
}
