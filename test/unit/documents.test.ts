import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';

const documents = globSync(['*.md', 'docs/*.md', 'src/**/*.md', 'test/**/*.md', 'examples/**/*.md']);
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
const ours = /^(?:src|test|docs|config|bench|build|helm|examples|\.ci)\//;

/** A heading as it is linked to. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}

function anchorsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8').replace(/^```[\s\S]*?^```/gm, '');
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading!));
}

t.ok(documents.includes('CONTRIBUTING.md') && documents.includes('docs/http.md'));

for (const document of documents) {
  const text = readFileSync(document, 'utf8');

  t.test(`${document}: every link leads somewhere`, async (t) => {
    for (const [, link, image] of text.matchAll(/\]\(([^)\s]+)\)|<img src="([^"]+)"/g)) {
      const target = link ?? image;
      if (/^[a-z]+:/.test(target!)) continue;
      const [path, anchor] = target!.split('#') as [string, string | undefined];
      const file = path === '' ? document : join(dirname(document), path);
      t.ok(existsSync(file), target!);
      if (anchor !== undefined && file.endsWith('.md')) t.ok(anchorsOf(file).includes(anchor), target!);
    }
  });

  // What the changelog names was there when it was written.
  if (document === 'CHANGELOG.md') continue;

  t.test(`${document}: every file and script it names is there`, async (t) => {
    for (const [, name] of text.matchAll(/`([^`\s]+)`/g)) {
      if (!ours.test(name!) || /[A-Z]{4}|[{<…]/.test(name!)) continue;
      const found = [name, `${name}.ts`, `${name}.test.ts`, `${name}.jsonl`].some(
        (each) => existsSync(each!) || globSync(`${each}`).length > 0,
      );
      t.ok(found, name!);
    }
    for (const [, name] of text.matchAll(/npm run ([\w:]+)/g)) t.ok(scripts[name!], `npm run ${name}`);
  });
}

t.test('no document has anyone run a package that is not ours', async (t) => {
  // Outside a checkout npx runs whatever has been published under an unscoped name.
  const texts = globSync([
    '*.md',
    'docs/*.md',
    'config/*.yaml',
    'examples/**/*.{md,yaml,sh,service}',
    'src/**/*.ts',
  ]);
  const wrong = texts.filter((file) =>
    /\bnp(?:x|m exec)(?: -{1,2}\S+)* postern\b/.test(readFileSync(file, 'utf8')),
  );
  t.strictSame(wrong, []);
});

const limits = { 'README.md': 1200, 'docs/operations.md': 1500, 'docs/getting-started.md': 1200 };

for (const [file, most] of Object.entries(limits))
  t.test(`${file} has at most ${most} words`, async (t) => {
    const words = readFileSync(file, 'utf8').match(/\S*\p{L}\S*/gu)!;
    t.ok(words.length <= most, `${words.length} words`);
  });
