import fc from 'fast-check';
import t from 'tap';
import { assertUnambiguousTarget } from '../../src/http/request-target.ts';
import { createRoute, createRouteTable, type Route } from '../../src/proxy/route-table.ts';
import { readPath } from '../../src/rules/lax-path.ts';
import type { PassedSpellings } from '../../src/rules/passed-spellings.ts';
import { readNaively, routeNaively, weightOf } from '../support/corpora/naive-paths.ts';
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
  '%C4%B0',
  '%E1%BA%9E',
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
  .tuple(fc.boolean(), fc.array(fc.constantFrom('a', 'b', 'aB', 's', 'i'), { maxLength: 3 }))
  .map(([exact, segments]) => `${exact ? '=' : ''}/${segments.join('/')}`);

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
          return found !== undefined && weightOf(found) > weightOf(route.label);
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
