import t from 'tap';
import { keptPrivate } from '../../src/proxy/response-headers.ts';

const rows: readonly [sentence: string, fields: readonly string[], expected: readonly string[]][] = [
  ['nothing is said', [], ['Cache-Control', 'private', 'Vary', 'Cookie']],
  [
    'shared caches are invited',
    ['Cache-Control', 'public, s-maxage=60, max-age=5', 'ETag', '"1"'],
    ['ETag', '"1"', 'Cache-Control', 'private, max-age=5', 'Vary', 'Cookie'],
  ],
  [
    'it is private',
    ['cache-control', 'Private, max-age=5'],
    ['Cache-Control', 'Private, max-age=5', 'Vary', 'Cookie'],
  ],
  ['it is stored nowhere', ['Cache-Control', 'no-store'], ['Cache-Control', 'no-store', 'Vary', 'Cookie']],
  [
    'a single header is private',
    ['Cache-Control', 'private="Set-Cookie, X-A", max-age=5'],
    ['Cache-Control', 'private, private="Set-Cookie, X-A", max-age=5', 'Vary', 'Cookie'],
  ],
  [
    'two fields say it',
    ['Cache-Control', 'PUBLIC', 'Cache-Control', 'S-MaxAge="9"'],
    ['Cache-Control', 'private', 'Vary', 'Cookie'],
  ],
  [
    'it varies by more',
    ['Vary', 'Accept', 'vary', 'Origin'],
    ['Cache-Control', 'private', 'Vary', 'Accept, Origin, Cookie'],
  ],
  ['it varies by cookie', ['Vary', 'cookie'], ['Cache-Control', 'private', 'Vary', 'cookie']],
  ['it varies by everything', ['Vary', '*'], ['Cache-Control', 'private', 'Vary', '*']],
  [
    'a network of caches is told otherwise',
    [
      'CDN-Cache-Control',
      'max-age=60',
      'Surrogate-Control',
      'max-age=60',
      'Acme-CDN-Cache-Control',
      'max-age=1',
    ],
    ['Cache-Control', 'private', 'Vary', 'Cookie'],
  ],
];

for (const [sentence, fields, expected] of rows)
  t.test(sentence, (t) => {
    t.same(keptPrivate(fields), expected);
    t.end();
  });
