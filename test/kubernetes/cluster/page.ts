import { readFileSync } from 'node:fs';

/** A block of code of a page, and the commands or values in it. */
export interface PageBlock {
  readonly language: string;
  readonly text: string;
}

/** A page whose commands are run. */
export interface Page {
  readonly text: string;
  /** The one block of that language with that phrase. Throws when there is none, or another. */
  block(language: string, phrase: string): string;
  /** The blocks of that language that nobody has asked for. */
  unused(language: string): readonly string[];
}

/** Reads the fenced blocks of a Markdown file. */
export function readPage(file: string): Page {
  const text = readFileSync(file, 'utf8');
  const fences = /^```(\w+)\n(.*?)^```$/gms;
  const blocks: PageBlock[] = [...text.matchAll(fences)].map(([, language, text]) => ({
    language: language!,
    text: text!,
  }));
  const used = new Set<PageBlock>();
  return {
    text,
    block(language, phrase) {
      const found = blocks.filter((block) => block.language === language && block.text.includes(phrase));
      if (found.length !== 1) throw new Error(`${found.length} blocks of ${file} have: ${phrase}`);
      used.add(found[0]!);
      return found[0]!.text;
    },
    unused: (language) =>
      blocks.filter((block) => block.language === language && !used.has(block)).map(({ text }) => text),
  };
}
