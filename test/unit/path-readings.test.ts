import fc from 'fast-check';
import t from 'tap';
import { assertUnambiguousTarget } from '../../src/http/request-target.ts';
import { createRoute, createRouteTable, type Route } from '../../src/proxy/route-table.ts';
import { readPath } from '../../src/rules/lax-path.ts';
import type { PassedSpellings } from '../../src/rules/passed-spellings.ts';
import { routeOptions } from '../support/gateway/route-options.ts';

const everything: PassedSpellings = {
  semicolons: true,
  encodedSlashes: true,
  encodedDelimiters: true,
  encodedPercent: true,
  encodedBackslashes: true,
};

/** Matches what is spelled well enough to be read at all. */
function isSpelledWell(path: string): boolean {
  try {
    assertUnambiguousTarget(path, path.length, everything);
    return true;
  } catch {
    return false;
  }
}

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

const isControl = (character: string) => {
  const point = character.codePointAt(0)!;
  return point < 0x20 || (point >= 0x7f && point < 0xa0);
};

interface Reference {
  readonly isRefused: boolean;
  readonly paths: ReadonlySet<string>;
}

function readNaively(path: string): Reference {
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
            .map((segment) => `/${segment}`)
            .join('')
            .toUpperCase()
            .toLowerCase(),
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

const separators = ['/', ';', '%3b', '%2f', '%2F', '%5c', '%23', '%3f'];
const dots = ['.', '..', '%252e', '%25252E'];
const others = [
  'a',
  'b',
  'A',
  'K',
  's',
  '%25',
  '%25',
  '25',
  '2f',
  '3b',
  '%20',
  '%C3%A9',
  '%E2%84%AA',
  '%2500',
  '%25C3%25A9',
];

/** An escape, encoded once more as often as it says. */
const deep = fc
  .tuple(
    fc.constantFrom('2f', '5c', '3b', '23', '3f', '2e', '61', '41', '0a', 'c3', 'a9', '%'),
    fc.integer({ min: 1, max: 4 }),
  )
  .map(([digits, times]) => `%${'25'.repeat(times)}${digits}`);
const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...separators) },
  { weight: 1, arbitrary: fc.constantFrom(...dots) },
  { weight: 3, arbitrary: fc.constantFrom(...others) },
  { weight: 4, arbitrary: deep },
);
const path = fc.array(piece, { maxLength: 9 }).map((pieces) => `/${pieces.join('')}`);

const cases = { numRuns: process.env.POSTERN_TEST_LONG === undefined ? 1_500 : 200_000 };

t.test('a path is read as a naive reference reads it', (t) => {
  let [refused, read] = [0, 0];
  fc.assert(
    fc.property(path.filter(isSpelledWell), (text) => {
      const { paths, refusal } = readPath(text);
      const reference = readNaively(text);
      if (reference.isRefused) refused += 1;
      else read += 1;
      if ((refusal !== null) !== reference.isRefused) fail(text, refusal);
      if (!reference.isRefused && !isSame(paths, reference.paths)) fail(text, paths);
    }),
    cases,
  );
  t.ok(refused > cases.numRuns / 20 && read > cases.numRuns / 5, `${refused} refused, ${read} read`);
  t.end();
});

function fail(text: string, found: unknown): never {
  throw new Error(`${text}: ${JSON.stringify(found)}`);
}

function isSame(paths: readonly string[], reference: ReadonlySet<string>): boolean {
  return paths.length === reference.size && paths.every((each) => reference.has(each));
}

/** `=` before a path: exact. */
const place = fc
  .tuple(fc.boolean(), fc.array(fc.constantFrom('a', 'b', 'aB', 's'), { maxLength: 3 }))
  .map(([exact, segments]) => `${exact ? '=' : ''}/${segments.join('/')}`);

/** The route of a path, by comparing it with each. */
function routeNaively(routes: readonly string[], path: string): string | undefined {
  const [own, found] = [`${path}/`, [] as string[]];
  for (const route of routes) {
    const root = `${route.replace(/^=/, '')}/`.replace('//', '/');
    if (route.startsWith('=') ? own.replace('//', '/') === root : own.replace('//', '/').startsWith(root))
      found.push(route);
  }
  return found.sort(byWeight).at(-1);
}

const weight = (route: string) => (route.startsWith('=') ? 1_000 : 0) + route.replace(/^=?\/?/, '').length;
const byWeight = (one: string, other: string) => weight(one) - weight(other);

t.test('no reading of a path leads past a more specific route', (t) => {
  let [closer, passed] = [0, 0];
  fc.assert(
    fc.property(
      fc.uniqueArray(place, { minLength: 1, maxLength: 5, selector: (text) => text.toLowerCase() }),
      path.filter(isSpelledWell),
      (places, text) => {
        const reference = readNaively(text);
        if (reference.isRefused) return;
        const table = createRouteTable(
          places.map((label) =>
            createRoute({
              ...routeOptions,
              label,
              path: label.replace('=', ''),
              exact: label.startsWith('='),
            }),
          ),
        );
        const route = table.spelled(text);
        const spelled = routeNaively(places, text.replace(/\/$/, ''));
        if (route?.label !== spelled) fail(text, [places, route?.label]);
        if (route === undefined) return;
        const small = places.map((each) => each.toLowerCase());
        const isCloser = [...reference.paths].some((each) => {
          const found = routeNaively(small, each);
          return found !== undefined && weight(found) > weight(route.label);
        });
        if (isCloser) closer += 1;
        else passed += 1;
        if (isRefused(table, route, text) !== isCloser) fail(text, [places, route.label, isCloser]);
      },
    ),
    cases,
  );
  t.ok(
    closer > cases.numRuns / 100 && passed > cases.numRuns / 100,
    `${closer} have a closer route, ${passed} not`,
  );
  t.end();
});

function isRefused(table: ReturnType<typeof createRouteTable>, route: Route, text: string): boolean {
  try {
    table.assertNoneCloser(route, readPath(text).paths);
    return false;
  } catch {
    return true;
  }
}
