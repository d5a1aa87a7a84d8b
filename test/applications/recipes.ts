import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** A configuration as it is written, by sections. */
export type Written = Readonly<Record<string, any>>;

/** A recipe of docs/applications.md. */
export interface Recipe {
  /** Its heading, without the mark of those that are run. */
  readonly title: string;
  readonly isRun: boolean;
  /** The recipe among the lines that stand before all recipes. */
  readonly config: Written;
}

const document = readFileSync(join(import.meta.dirname, '../../docs/applications.md'), 'utf8');

function blocksOf(text: string): Written[] {
  return [...text.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(([, block]) => parse(block!));
}

const [introduction, ...sections] = document.split(/^### /m);
const common = blocksOf(introduction!);

/** A recipe without the pages that no route leads to, as the document says before the first one. */
function withoutUnusedPages({ web, ...recipe }: Written): Written {
  return recipe.routes.some(({ browser }: Written) => browser === true) ? { ...recipe, web } : recipe;
}

/** Every recipe, in the order of the document. Throws if a heading has more or less than one. */
export const recipes: readonly Recipe[] = sections.map((section) => {
  const heading = section.split('\n', 1)[0]!;
  const blocks = blocksOf(section);
  if (common.length !== 1 || blocks.length !== 1) throw new Error(`${blocks.length} recipes: ${heading}`);
  return {
    title: heading.replace(/ ▸$/, ''),
    isRun: heading.endsWith(' ▸'),
    config: withoutUnusedPages({ ...common[0], ...blocks[0] }),
  };
});

/** The recipe whose heading begins so. */
export function recipeOf(beginning: string): Recipe {
  const found = recipes.filter(({ title }) => title.startsWith(beginning));
  if (found.length !== 1) throw new Error(`${found.length} recipes begin with ${beginning}`);
  return found[0]!;
}

/** Every `{ file: PATH }` of a configuration. */
export function filesNamedIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { file } = value as { readonly file?: unknown };
  return typeof file === 'string' ? [file] : Object.values(value).flatMap(filesNamedIn);
}
