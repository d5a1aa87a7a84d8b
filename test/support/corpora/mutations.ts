import type { Random } from './random.ts';

/** Bytes over which parsers of HTTP/1.1 have disagreed, one character each. */
const bits = [
  ...[
    '\r',
    '\n',
    '\r\n',
    '\n\n',
    '\r\r\n',
    '\r\n\r\n',
    '\r\n ',
    '\r\n\t',
    ' ',
    '\t',
    '\0',
    '\x01',
    '\x0b',
    '\x0c',
  ],
  ...[
    '\x1f',
    '\x7f',
    '\x80',
    '\x85',
    '\xa0',
    '\xff',
    ':',
    ';',
    ',',
    '"',
    '\\',
    '=',
    '%',
    '#',
    '?',
    '&',
    '/',
    '//',
  ],
  ...[
    '/../',
    '/./',
    '%2e',
    '%2f',
    '%5c',
    '%00',
    '%0d%0a',
    '%C3%A9',
    '+',
    '-',
    '_',
    '.',
    '0',
    '1',
    'f',
    'x',
    'X',
  ],
  ...[' HTTP/1.1', 'HTTP/1.0', 'chunked', 'close', '0\r\n\r\n', '1\r\na\r\n'],
] as const;

/** What a header line may be changed to, by its beginning. */
const twists: readonly (readonly [RegExp, readonly string[]])[] = [
  [
    /Content-Length: \d+/,
    [
      ...[
        '+5',
        '-1',
        '05',
        '0005',
        '5 ',
        ' 5',
        '5,5',
        '5, 6',
        '0x5',
        '5.0',
        '1e1',
        '5;',
        '"5"',
        '',
        '5\t',
        '\x0b5',
      ],
      ...[
        '99999999999999999999',
        '5\r\nContent-Length: 5',
        '5\r\nContent-Length: 6',
        '5\r\nTransfer-Encoding: chunked',
      ],
      ...['5\r\n 6', '5\r\nContent_Length: 0', '٥', '0', '1', '7'],
    ].map((value) => `Content-Length: ${value}`),
  ],
  [
    /Transfer-Encoding: chunked/,
    [
      ...[
        'Transfer-Encoding: ,chunked',
        'Transfer-Encoding: chunked,',
        'Transfer-Encoding: chunked, identity',
      ],
      ...['Transfer-Encoding: identity', 'Transfer-Encoding: gzip, chunked', 'Transfer-Encoding : chunked'],
      ...['TRANSFER-ENCODING: CHUNKED', 'Transfer-Encoding:chunked', 'Transfer-Encoding:\tchunked\t'],
      ...['Transfer-Encoding: chunked;q=1', 'Transfer-Encoding: "chunked"', 'Transfer-Encoding: xchunked'],
      ...['Transfer-Encoding:\r\n chunked', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked'],
      ...[
        'Transfer-Encoding: chunked\r\nContent-Length: 4',
        'Content-Length: 4\r\nTransfer-Encoding: chunked',
      ],
      ...[
        'Transfer_Encoding: chunked',
        'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
        'Transfer-Encoding:',
      ],
    ],
  ],
];

/** The text with one to four changes: most ignore what HTTP is, some are typical of it. */
export function mutated(random: Random, text: string): string {
  let all = text;
  for (let count = 1 + random.below(4); count > 0; count--) all = changed(random, all);
  return all;
}

function changed(random: Random, text: string): string {
  const at = random.below(text.length + 1);
  const other = random.below(text.length + 1);
  const length = 1 + random.below(24);
  switch (random.below(9)) {
    case 0:
      return text.slice(0, at) + random.pick(bits) + text.slice(at);
    case 1:
      return text.slice(0, at) + random.pick(bits) + text.slice(at + 1);
    case 2:
      return text.slice(0, at) + text.slice(at + 1 + random.below(3));
    case 3:
      return text.slice(0, at) + text.slice(other, other + length) + text.slice(at);
    case 4:
      return text.slice(0, at) + String.fromCharCode(random.below(256)) + text.slice(at + 1);
    case 5:
      return withSwappedLines(random, text);
    case 6:
      return atLineEnd(random, text);
    default:
      return twisted(random, text);
  }
}

function withSwappedLines(random: Random, text: string): string {
  const lines = text.split('\r\n');
  const [one, two] = [random.below(lines.length), random.below(lines.length)];
  [lines[one], lines[two]] = [lines[two]!, lines[one]!];
  return lines.join('\r\n');
}

/** Line ends are where messages are cut. */
function atLineEnd(random: Random, text: string): string {
  const ends = [...text.matchAll(/\r\n/g)].map(({ index }) => index);
  if (ends.length === 0) return text;
  const at = random.pick(ends);
  return text.slice(0, at) + random.pick(bits) + text.slice(at + random.pick([0, 1, 2]));
}

function twisted(random: Random, text: string): string {
  const [pattern, into] = random.pick(twists);
  return text.replace(pattern, () => random.pick(into));
}
