import fc from 'fast-check';
import t from 'tap';
import { assertUnambiguousTarget, queryStart, requireReadings } from '../../src/http/request-target.ts';
import { nothingPasses, type PassedSpellings } from '../../src/rules/passed-spellings.ts';

const lax: PassedSpellings = { ...nothingPasses, semicolons: true, encodedSlashes: true };

function isRefused(target: string, passed = nothingPasses): boolean {
  try {
    const end = queryStart(target);
    if (!assertUnambiguousTarget(target, end, passed)) requireReadings(target.slice(0, end));
    return false;
  } catch (error) {
    return (error as { code: string }).code === 'bad_request';
  }
}

t.test('targets that every upstream reads alike pass', (t) => {
  const rows: Record<string, string> = {
    'the root': '/',
    'a trailing slash': '/api/store/',
    'unreserved characters': '/api/A-z.0_9~',
    'dots that are no dot segment': '/api/.../a..b/.hidden/x.',
    'sub-delimiters, colon and at sign': "/api/!$&'()*+,=:@",
    'visible bytes that URLs seldom hold': '/api/"<>[]^`{|}',
    'an encoded blank': '/a%20b',
    'an encoded reserved character': '/a%3Ab%40%2B',
    'an encoded percent sign before no escape': '/100%25',
    'an encoded percent sign before one digit': '/%25a/x',
    'two bytes of UTF-8': '/%C3%A9',
    'two bytes of UTF-8 in lower case': '/%c3%a9',
    'three bytes of UTF-8': '/%E2%82%AC',
    'four bytes of UTF-8': '/%F0%9F%98%80',
    'the first character after the control characters': '/%C2%A0',
    'the last code point': '/%F4%8F%BF%BF',
    'an empty query': '/a?',
    'a query with anything visible in it': '/a?b=//../;%2f%00%zz\\?',
  };
  for (const [name, target] of Object.entries(rows)) t.notOk(isRefused(target), name);
  t.end();
});

const refused: Record<string, string> = {
  'the empty target': '',
  'asterisk-form': '*',
  'absolute-form': 'http://a.example/x',
  'authority-form': 'a.example:443',
  'a path without its slash': 'api',
  'two slashes before everything': '//api',
  'two slashes in the middle': '/api//x',
  'two slashes at the end': '/api//',
  'a parent segment': '/api/../x',
  'a parent segment at the end': '/api/..',
  'a parent segment before everything': '/../api',
  'a parent segment before the query': '/api/..?x',
  'a dot segment': '/api/./x',
  'a dot segment at the end': '/api/.',
  'an encoded dot': '/api/%2e',
  'two encoded dots': '/api/%2E%2E/x',
  'a dot and an encoded one': '/api/.%2e/x',
  'a backslash': '/api\\x',
  'an encoded backslash': '/api%5Cx',
  'an encoded backslash in lower case': '/api%5cx',
  'a semicolon': '/api;x/y',
  'an encoded semicolon': '/api%3Bx',
  'an encoded slash': '/api%2Fx',
  'an encoded slash in lower case': '/api%2fx',
  'an encoded hash': '/api%23x',
  'an encoded question mark': '/api%3Fx',
  'a fragment': '/api#x',
  'a fragment after a query': '/api?x#y',
  'a blank': '/api x',
  'a blank in the query': '/api?x y',
  'a control character': '/api\x01',
  DEL: '/api\x7f',
  'a byte above 0x7e': '/api\xe9',
  'a byte above 0x7e in the query': '/api?\xe9',
  'an encoded NUL': '/api%00',
  'an encoded line feed': '/api%0A',
  'an encoded tab': '/api%09',
  'an encoded DEL': '/api%7F',
  'an encoded control character of two bytes': '/api%C2%85',
  'an encoded letter': '/api/%61',
  'an encoded capital': '/api/%41',
  'an encoded digit': '/api/%30',
  'an encoded hyphen': '/api/%2D',
  'an encoded underscore': '/api/%5F',
  'an encoded tilde': '/api/%7E',
  'a percent sign alone': '/api/%',
  'a percent sign with one digit': '/api/%4',
  'a percent sign before the query': '/api/%4?1',
  'an escape of other letters': '/api/%zz',
  'an escape of the old style': '/api/%u0041',
  'an escape encoded twice': '/api/%252e',
  'a continuation byte alone': '/api/%80',
  'a byte that UTF-8 never holds': '/api/%FF',
  'an overlong slash': '/api/%C0%AF',
  'an overlong slash of three bytes': '/api/%E0%80%AF',
  'an overlong slash of four bytes': '/api/%F0%80%80%AF',
  'an overlong letter': '/api/%C1%81',
  'a sequence cut short': '/api/%C3',
  'a sequence with a plain character in it': '/api/%E2%82x',
  'a sequence that starts over': '/api/%C3%C3',
  'a surrogate': '/api/%ED%A0%80',
  'a code point beyond the last': '/api/%F4%90%80%80',
};
t.test('targets that some upstream reads differently are refused', (t) => {
  for (const [name, target] of Object.entries(refused)) t.ok(isRefused(target), name);
  t.end();
});

t.test('paths: pass lets through separators and nothing else', (t) => {
  const passed = ['/api;x/y', '/api%3Bx', '/api%3bx', '/api%2Fx', '/api%2fx', '/a;x=1;y=2/b%2Fc%2fd'];
  for (const target of passed) t.notOk(isRefused(target, lax), target);
  for (const [name, target] of Object.entries(refused))
    if (!passed.includes(target)) t.ok(isRefused(target, lax), name);
  const dotSegments = [
    '/api/..;x/y',
    '/api/.;/y',
    '/api/..%3Bx',
    '/api/..%2Fx',
    '/api/x%2F..',
    '/api/x%2f../y',
    '/api/x%2f..%2fy',
    '/api/x%2F..;z',
    '/api/x%2F.',
    '/api/%2F..%3bx',
  ];
  for (const target of dotSegments) t.ok(isRefused(target, lax), `a dot segment before or after: ${target}`);
  t.end();
});

t.test('each pass stands for its own', (t) => {
  const spellings: Record<keyof PassedSpellings, readonly string[]> = {
    semicolons: ['/a;b', '/a%3bb'],
    encodedSlashes: ['/a%2Fb'],
    encodedDelimiters: ['/a%23b', '/a%3Fb'],
    encodedPercent: ['/a%2541b', '/a%252520b'],
    encodedBackslashes: ['/a%5cb', '/a%5Cb'],
  };
  for (const rule of Object.keys(spellings) as (keyof PassedSpellings)[])
    for (const [other, targets] of Object.entries(spellings))
      for (const target of targets)
        t.equal(isRefused(target, { ...nothingPasses, [rule]: true }), rule !== other, `${target}, ${rule}`);
  t.end();
});

t.test('no spelling that passes hides what none may have', (t) => {
  const everything: PassedSpellings = {
    semicolons: true,
    encodedSlashes: true,
    encodedDelimiters: true,
    encodedPercent: true,
    encodedBackslashes: true,
  };
  const passed = [
    ...[
      '/Zo%C3%AB%20%231%3F.txt',
      '/C%23%20a%3bb%20100%25.bin',
      '/50%2525.txt',
      '/a%5cb',
      '/%2523',
      '/a%2f%2fb',
    ],
    ...[
      '/%25252520',
      '/%25zz',
      '/%25',
      '/a%25C3%25A9',
      '/...%3b',
      '/a..%23',
      '/%25zz%2520',
      '/a%252fb',
      '/..a%2f',
    ],
  ];
  for (const target of passed) t.notOk(isRefused(target, everything), target);
  const dots = [
    '..%23',
    '.%3fx',
    '..%5cx',
    'x%5c..',
    '%252e',
    '%252e%252e/x',
    '..%252fx',
    '..%25253bx',
    '%25252525252e',
  ];
  const others = [
    '%2500',
    '%25250a',
    '%25C3',
    '%25ff/x',
    '%25C2%2585',
    '%C3%25A9',
    '%2525252520',
    'a\\b',
    '/a',
    'a#b',
  ];
  for (const target of [...dots, ...others]) t.ok(isRefused(`/a/${target}`, everything), target);
  t.end();
});

t.test('whatever passes has one reading', (t) => {
  const piece = fc.oneof(
    fc.constantFrom(
      '/',
      '.',
      '..',
      '%2e',
      '%2f',
      '%5c',
      ';',
      '\\',
      '%',
      '%25',
      '2e',
      '%C3',
      '%A9',
      '?',
      '#',
      'a',
    ),
    fc.stringMatching(/^[!-~]$/),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const target = `/${pieces.join('')}`;
      if (isRefused(target)) return true;
      const path = target.slice(0, queryStart(target));
      const decoded = decodeURIComponent(path);
      const segments = (text: string) => new URL(`http://a.example${text}`).pathname.split('/').length;
      return (
        segments(path) === path.split('/').length &&
        decoded.split('/').length === path.split('/').length &&
        // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what must not be there
        !/[\u0000-\u001f\u007f-\u009f\\;#?]/.test(decoded)
      );
    }),
    { numRuns: 20_000 },
  );
  t.end();
});
