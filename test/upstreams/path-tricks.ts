/** A spelling of a path that some server may read as the path itself. */
export interface PathTrick {
  readonly name: string;
  readonly target: string;
}

const escaped = (character: string) =>
  [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');

/** Texts that are put at the end of the path. */
const sessionEnds: readonly string[] = [
  ...['/', '//', '/.', '/..', '/x', '/x/..', '/%2e', '/%2e%2e', '.', '..', '%20', '%09', '%00', '%0a', '%2f'],
  ...[
    ';',
    ';x',
    ';x=y/z',
    '%3b',
    '%3bx',
    '?',
    '?x',
    '%3f',
    '#',
    '#x',
    '%23',
    '%5c',
    '\\',
    ',',
    '~',
    '*',
    '%',
  ],
  ...[
    '.php',
    '.php/x',
    '.json',
    '/index.php',
    '%c2%a0',
    '%e2%80%8b',
    '%ef%bb%bf',
    '%c0%80',
    '%ff',
    '&',
    ':80',
    '%23x',
    '%3fx',
    '%23/x',
    '%3f/x',
    '%5cx',
    '%2523x',
    '%253fx',
    '%253bx',
    '%25253bx',
    '%252fx',
    '%255cx',
    '%2520',
    '%2500',
    '%5c..',
    '%252f..%252f',
    '..%23',
    '%23%3b%3f',
  ],
];

/** Replacements for a slash. */
const slashes: readonly string[] = [
  ...[
    '%25252f',
    '%25255C',
    '%5c%5c',
    '/%5c',
    '%5c/',
    '/%23/',
    '%23/',
    '%3f/',
    '/%3f/',
    '%2523/',
    '%253b/',
    '/%253bx/',
  ],
  ...['//', '///', '/./', '/x/../', '/;/', '/;x/', ';/', ';x=y/', '\\', '\\/', '/\\', '%2f', '%2F', '/%2f'],
  ...['%5c', '%5C', '%252f', '%252F', '%255c', '/%2e/', '/%2E/', '/x/%2e%2e/', '/x/.%2e/', '/x%2f..%2f'],
  ...[
    '/..%2fopen/',
    '%c0%af',
    '%e0%80%af',
    '%c1%9c',
    '%ef%bc%8f',
    '%e2%81%84',
    '%e2%88%95',
    '%u002f',
    '%u2215',
  ],
  ...[
    '%3b/',
    '/%3b/',
    '/x;/../',
    '/..;/open/',
    '%00/',
    '/%00',
    '%0d%0a/',
    '/%20',
    '%20/',
    '/%09/',
    '/?/',
    '#/',
  ],
];

/** Letters beyond ASCII that become these when case is folded or text normalised. */
const lookalikes: Readonly<Record<string, readonly string[]>> = {
  s: ['ſ', 'ｓ'],
  i: ['İ', 'ı', 'ｉ'],
  k: ['\u212a'],
  a: ['ａ', 'ª'],
  ':': ['：', '\u2236'],
  '@': ['＠'],
};

/** Spellings of a path with one thing changed, and with everything changed alike. */
export function pathTricks(path: string): PathTrick[] {
  const found = new Map<string, string>();
  const add = (target: string, name: string) => {
    if (target !== path && !found.has(target)) found.set(target, name);
  };
  for (const ending of sessionEnds) add(path + ending, `an ending of ${ending}`);
  for (let i = 1; i < path.length; i++) {
    const [before, character, after] = [path.slice(0, i), path[i]!, path.slice(i + 1)];
    if (character === '/') {
      for (const slash of slashes) add(before + slash + after, `${slash} for the slash at ${i}`);
      continue;
    }
    add(`${before}${escaped(character)}${after}`, `the character at ${i} escaped`);
    add(`${before}${escaped(character).toUpperCase()}${after}`, `the character at ${i} escaped in capitals`);
    add(`${before}${escaped(escaped(character))}${after}`, `the character at ${i} escaped wholly twice`);
    add(`${before}%25${escaped(character).slice(1)}${after}`, `the character at ${i} escaped twice`);
    add(before + character.toUpperCase() + after, `the character at ${i} in capitals`);
    add(before + character.toLowerCase() + after, `the character at ${i} in small letters`);
    for (const other of lookalikes[character] ?? []) add(before + escaped(other) + after, `${other} at ${i}`);
  }
  add(path.toUpperCase(), 'all in capitals');
  add(path.toLowerCase(), 'all in small letters');
  add(`/${path}`, 'another slash before it');
  add(`/.${path}`, 'a dot segment before it');
  add(`/x/..${path}`, 'a parent segment before it');
  add(path.slice(1), 'without its first slash');
  add(`http://gateway.example${path}`, 'an absolute target');
  add(`//gateway.example${path}`, 'an authority without a scheme');
  add(path.replace(/[^/]/g, escaped), 'all escaped');
  // Only the percent sign.
  add(path.replace(/[:@+()!]/g, escaped), 'its marks escaped');
  add(decodeURIComponent(path), 'its escapes decoded');
  return [...found].map(([target, name]) => ({ name, target }));
}
