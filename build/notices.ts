import { readdirSync, readFileSync } from 'node:fs';

/** Names and licences of the packages that contain the modules; the licences require that copies of the code include them. */
export function noticesOf(modules: readonly string[]): string {
  const folders = new Set(
    modules.flatMap((module) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(module) ?? []),
  );
  const notices = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
    return `${name} ${version} (${license})\n\n${textOf(folder) ?? ''}`;
  });
  return notices.join(`\n${'-'.repeat(80)}\n`);
}

/** The text of a package's licence; undefined if it has none of its own. */
function textOf(folder: string): string | undefined {
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  return file && readFileSync(`${folder}/${file}`, 'utf8');
}
