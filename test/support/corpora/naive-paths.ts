// The reference: a text is a string of bytes, one character each, and every rule of the interface is written down as it reads.

const before = (text: string, mark: string) => text.split(mark, 1)[0]!;
const segmentsCut = (text: string) =>
  text
    .split('/')
    .map((segment) => before(segment, ';'))
    .join('/');
const withSlashes = (text: string) => text.split('\\').join('/');

function cuts(text: string): string[] {
  const slashed = withSlashes(text);
  const delimited = before(before(slashed, '#'), '?');
  return [
    text,
    segmentsCut(text),
    before(text, ';'),
    before(text, '#'),
    before(text, '?'),
    slashed,
    segmentsCut(delimited),
    before(before(segmentsCut(slashed), '#'), '?'),
    before(delimited, ';'),
  ];
}

/** Decodes once, from left to right. */
function decodedOnce(text: string): string {
  let result = '';
  for (let i = 0; i < text.length; i++) {
    const digits = text.slice(i + 1, i + 3);
    const isEscape = text[i] === '%' && digits.length === 2 && [...digits].every(isHex);
    result += isEscape ? String.fromCharCode(Number.parseInt(digits, 16)) : text[i];
    if (isEscape) i += 2;
  }
  return result;
}

const isHex = (digit: string) => '0123456789abcdefABCDEF'.includes(digit);

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The characters of a text; null if it isn't UTF-8. */
function charactersOf(text: string): string | null {
  try {
    return utf8.decode(Buffer.from(text, 'latin1'));
  } catch {
    return null;
  }
}

/** The same text for all that differ in case alone, by whatever a language makes of a letter: of İ Go makes i. */
const inAnyCase = (text: string) =>
  [...text]
    .map((letter) => (letter === 'İ' ? 'i' : letter.toLowerCase().toUpperCase().toLowerCase()))
    .join('')
    .split('\u0307')
    .join('');

const isControl = (character: string) => {
  const point = character.codePointAt(0)!;
  return point < 0x20 || (point >= 0x7f && point < 0xa0);
};

/** Readings of a path by the reference. */
export interface NaiveReadings {
  /** True if some reading has to be refused, whatever it falls to. */
  readonly isRefused: boolean;
  /** Every reading, in small letters and without empty segments; the root is the empty text. */
  readonly paths: ReadonlySet<string>;
}

/** Reads a path as the interface has it, without a thought of time. */
export function readNaively(path: string): NaiveReadings {
  const visited = new Set<string>();
  const paths = new Set<string>();
  let isRefused = false;
  const visit = (text: string, rounds: number) => {
    if (visited.has(`${rounds} ${text}`)) return;
    visited.add(`${rounds} ${text}`);
    for (const reading of cuts(text)) {
      const characters = charactersOf(reading);
      if (characters === null || [...characters].some(isControl)) isRefused = true;
      const segments = reading.split('/');
      if (segments.includes('.') || segments.includes('..')) isRefused = true;
      if (characters !== null)
        paths.add(
          characters
            .split('/')
            .filter((segment) => segment !== '')
            .map((segment) => `/${inAnyCase(segment)}`)
            .join(''),
        );
      if (rounds < 4) visit(decodedOnce(reading), rounds + 1);
    }
  };
  visit(path, 0);
  const [four, five] = [4, 5].map((count) =>
    Array.from({ length: count }).reduce<string>((text) => decodedOnce(text), path),
  );
  return { isRefused: isRefused || four !== five, paths };
}

/** The most specific route of a path, by comparing it with each; `=` begins an exact one. */
export function routeNaively(routes: readonly string[], path: string): string | undefined {
  const [own, found] = [`${path}/`, [] as string[]];
  for (const route of routes) {
    const root = `${route.replace(/^=/, '')}/`.replace('//', '/');
    if (route.startsWith('=') ? own.replace('//', '/') === root : own.replace('//', '/').startsWith(root))
      found.push(route);
  }
  return found.sort(byWeight).at(-1);
}

/** The more specific a route is, the more it weighs. */
export const weightOf = (route: string) =>
  (route.startsWith('=') ? 1_000 : 0) + route.replace(/^=?\/?/, '').length;
const byWeight = (one: string, other: string) => weightOf(one) - weightOf(other);
