import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Files and folders of the checkout that an archive has at its top: what its documents are, and what they link to. */
const shipped = [
  'README.md',
  'CHANGELOG.md',
  'LICENSE',
  'RELEASING.md',
  'SECURITY.md',
  'config/quickstart.yaml',
  'config/reference.yaml',
  'docs',
  'examples',
  'helm',
];

/** Matches a link that isn't an image: its text, the path of a file, and the rest of the address. */
const link = /(?<!!)\[([^\]]*)\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)/g;

/**
 * Copies documents and examples to the folder of an archive. A link to a file that only a checkout has leads to `sources`, the
 * URL of the checkout's files; undefined: there is none, and the text of the link stays.
 */
export function copyDocuments(folder: string, sources: string | undefined): void {
  const files = committedFiles();
  for (const file of files) {
    if (!lstatSync(file).isFile()) throw new Error(`${file} is no file`);
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    copyFileSync(file, join(folder, file));
  }
  for (const document of files.filter((file) => file.endsWith('.md'))) {
    const text = readFileSync(document, 'utf8');
    const linked = text.replaceAll(link, (whole, words: string, path: string, anchor = '') => {
      const file = join(dirname(document), path);
      if (existsSync(join(folder, file))) return whole;
      return sources === undefined ? words : `[${words}](${sources}/${file}${anchor})`;
    });
    writeFileSync(join(folder, document), linked);
  }
}

/** The files below {@link shipped} that git knows: a checkout may hold secrets beside them, made by its examples. */
function committedFiles(): string[] {
  const list = execFileSync('git', ['ls-files', '-z', '--', ...shipped], { encoding: 'utf8' });
  return list.split('\0').filter((file) => file !== '');
}

/** The URL of a version's files in the repository that a manifest names; undefined if it names none. */
export function sourcesOf(manifest: {
  readonly version: string;
  readonly repository?: { readonly url: string } | undefined;
}): string | undefined {
  const url = manifest.repository?.url.replace(/^git\+/, '').replace(/\.git$/, '');
  return url && `${url}/blob/v${manifest.version}`;
}
