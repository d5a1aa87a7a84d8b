import { globSync, readFileSync } from 'node:fs';
import t from 'tap';

const sources = globSync('src/**/*.{ts,js}');
const documents = globSync(['*.md', 'docs/*.md', 'src/**/*.md', 'test/**/*.md', 'examples/**/*.md']);
const columns = 130;

/** Matches a docblock that begins with a riddle instead of the name of its subject. */
const riddle = /\/\*\*\s*(?:\*\s*)?(?:What|Of|Those|That|One|Whether|How)\b[^\n]*/g;

function locationOf(file: string, text: string, index: number): string {
  return `${file}:${text.slice(0, index).split('\n').length}`;
}

t.ok(sources.length > 500 && documents.includes('docs/http.md'));

t.test('every docblock names its subject first', async (t) => {
  for (const file of sources) {
    const text = readFileSync(file, 'utf8');
    for (const match of text.matchAll(riddle)) t.fail(`${locationOf(file, text, match.index)}: ${match[0]}`);
  }
});

t.test(`comments are wrapped at ${columns} columns`, async (t) => {
  for (const file of sources)
    for (const [index, line] of readFileSync(file, 'utf8').split('\n').entries())
      if (/^\s*(?:\/\/|\/?\*)/.test(line) && line.length > columns) t.fail(`${file}:${index + 1}`);
});

t.test(`documents are wrapped at ${columns} columns, except for code, tables and images`, async (t) => {
  for (const file of documents) {
    let isCode = false;
    for (const [index, line] of readFileSync(file, 'utf8').split('\n').entries()) {
      if (/^\s*```/.test(line)) isCode = !isCode;
      else if (!isCode && !/^(?:\||!\[| {4})/.test(line) && line.length > columns)
        t.fail(`${file}:${index + 1}`);
    }
  }
});
