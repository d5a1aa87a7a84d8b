import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { copyDocuments, sourcesOf } from '../../build/documents.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

/** The files that a document links to or shows, as paths from the folder that its own path begins in. */
function linksOf(document: string, text: string): string[] {
  const found = text.matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)|<img src="([^"]+)"/g);
  return [...found].map(([, link, image]) => join(dirname(document), link ?? image!));
}

/** The documents of an archive, by path. */
function archiveOf(t: Test, sources?: string) {
  const folder = makeTemporaryFolder('postern-documents-');
  t.teardown(() => rmSync(folder, { recursive: true }));
  copyDocuments(folder, sources);
  const documents = globSync('**/*.md', { cwd: folder });
  const read = (document: string) => readFileSync(join(folder, document), 'utf8');
  return { folder, read, documents };
}

t.test('every link of an archive’s documents leads to a file of the archive', async (t) => {
  const { folder, read, documents } = archiveOf(t);
  for (const one of ['README.md', 'docs/getting-started.md', 'examples/systemd/README.md'])
    t.ok(documents.includes(one), one);
  let count = 0;
  for (const document of documents)
    for (const file of linksOf(document, read(document))) {
      count += 1;
      t.ok(!file.startsWith('..') && existsSync(join(folder, file)), `${document}: ${file}`);
    }
  t.ok(count > 200, `${count} links`);
});

t.test('an archive has nothing that a checkout holds beside its files', async (t) => {
  // Where examples/compose/make-secrets.sh puts secrets, which git ignores.
  const stray = `docs/stray-${process.pid}.md`;
  writeFileSync(stray, 'not committed\n');
  t.teardown(() => rmSync(stray));
  const { folder } = archiveOf(t);
  t.ok(existsSync(join(folder, 'docs/words.md')));
  t.notOk(existsSync(join(folder, stray)));
});

t.test('a link to a file of the checkout alone leads to the repository, or is text', async (t) => {
  t.match(readFileSync('README.md', 'utf8'), '[CONTRIBUTING.md](CONTRIBUTING.md) has');
  t.match(archiveOf(t).read('README.md'), '\nCONTRIBUTING.md has');
  const url = 'https://git.example/acme/postern/blob/v0.1.0';
  const { read } = archiveOf(t, url);
  t.match(read('README.md'), `[CONTRIBUTING.md](${url}/CONTRIBUTING.md) has`);
  t.match(read('SECURITY.md'), `(${url}/DESIGN.md#threats-and-the-test-that-covers-each)`);
  t.equal(read('docs/words.md'), readFileSync('docs/words.md', 'utf8'), 'and the rest stays as it is');
  const repository = { type: 'git', url: 'git+https://git.example/acme/postern.git' };
  t.equal(sourcesOf({ version: '0.1.0', repository }), url);
  t.equal(sourcesOf({ version: '0.1.0' }), undefined);
});
