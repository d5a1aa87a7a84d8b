import { align } from './tables.ts';

/** A document with a digest of RESULTS.md between its markers. */
export interface DigestedDocument {
  /** Path from the root of the repository. */
  readonly file: string;
  /** The digest, from the text of RESULTS.md. */
  readonly render: (results: string) => string;
}

/** Lines between which the bench writes the digest. */
export const digestMarkers = {
  begin: '<!-- figures: written by `npm run bench` -->',
  end: '<!-- figures: end -->',
} as const;

/** Documents with a digest. */
export const digests: readonly DigestedDocument[] = [
  { file: 'README.md', render: renderFront },
  { file: 'docs/benchmarks.md', render: renderAll },
];

/** Names for people of the rows that documents show, in their order. */
const labels = {
  'postern-key': 'Postern, API keys',
  'postern-bearer': 'Postern, access tokens',
  'nginx-postern': 'nginx asking Postern',
  'nginx-key-map': 'nginx, a static map of keys',
  'haproxy-key-map': 'HAProxy, a static map of keys',
  'envoy-api-key': 'Envoy, a static list of keys',
  'caddy-key-map': 'Caddy, a static map of keys',
  'nginx-auth-request': 'nginx asking a small service of one’s own',
  'traefik-forward-auth': 'Traefik asking a small service of one’s own',
  'http-proxy-3': 'http-proxy-3 (Node), forwarding only',
  'oauth2-proxy-cookie': 'oauth2-proxy, by its cookie',
  'oauth2-proxy-jwt': 'oauth2-proxy, bearer tokens',
  'oathkeeper-jwt': 'Ory Oathkeeper, bearer tokens',
} as const;

type Name = keyof typeof labels;

/** Programs of others, each with a row that names its version. */
const products: Readonly<Record<string, Name>> = {
  nginx: 'nginx-key-map',
  HAProxy: 'haproxy-key-map',
  Envoy: 'envoy-api-key',
  Caddy: 'caddy-key-map',
  Traefik: 'traefik-forward-auth',
  'http-proxy-3': 'http-proxy-3',
  'oauth2-proxy': 'oauth2-proxy-jwt',
  Oathkeeper: 'oathkeeper-jwt',
};

/** Rows of the README: those whose upkeep is measured, too. */
const front = [
  'postern-key',
  'nginx-key-map',
  'envoy-api-key',
  'http-proxy-3',
  'oauth2-proxy-jwt',
  'oathkeeper-jwt',
] as const satisfies readonly Name[];

/** A column of RESULTS.md: the heading that only its table has, and its own, or how far it is from that one. */
interface Column {
  readonly heading: string;
  readonly from: string;
  readonly offset?: number;
}

const saturated = 'CPU µs/request';
const offered = 'CPU µs at 2000/s';
const held = 'private MiB loaded, then idle';
const connected = 'KiB a connection';
const columns = {
  'CPU µs/request at 2,000/s': { heading: offered, from: offered },
  'p99 ms there': { heading: offered, from: 'p50 ms at 2000/s', offset: 1 },
  'CPU µs/request at 5,000/s': { heading: offered, from: 'CPU µs at 5000/s' },
  'CPU µs/request at saturation': { heading: saturated, from: saturated },
  'requests/s at most': { heading: saturated, from: 'requests/s' },
  'MiB of its own after load': { heading: held, from: held },
  'start ms': { heading: held, from: 'start ms' },
  'KiB a connection': { heading: connected, from: connected },
} as const satisfies Record<string, Column>;

type ColumnName = keyof typeof columns;

/** The text with the part between its markers replaced; throws if it has no markers. */
export function replaceDigest(text: string, digest: string): string {
  const [begin, end] = [text.indexOf(digestMarkers.begin), text.indexOf(digestMarkers.end)];
  if (begin < 0 || end < begin) throw new Error('the document has no markers for the figures');
  return `${text.slice(0, begin)}${digestMarkers.begin}\n${digest}\n${text.slice(end)}`;
}

function renderFront(results: string): string {
  const shown = [
    'CPU µs/request at 2,000/s',
    'p99 ms there',
    'requests/s at most',
    'MiB of its own after load',
    'start ms',
  ] as const;
  return `${renderTable(results, front, shown)}\n\n${wrap(`${dateOf(results)} ${versionsOf(results, front)}`)}`;
}

function renderAll(results: string): string {
  const shown = [
    'CPU µs/request at 2,000/s',
    'p99 ms there',
    'CPU µs/request at 5,000/s',
    'CPU µs/request at saturation',
    'requests/s at most',
    'KiB a connection',
  ] as const;
  const names = Object.keys(labels) as Name[];
  return `${renderTable(results, names, shown)}\n\n${wrap(`${dateOf(results)} ${versionsOf(results, names)}`)}`;
}

const none = '—';

/** A table of those columns that any row has a figure for: not every machine can measure each part. */
function renderTable(results: string, names: readonly Name[], shown: readonly ColumnName[]): string {
  const measured = shown.filter((column) => names.some((name) => figure(results, name, column) !== none));
  const rows = names.map((name) => [
    labels[name],
    ...measured.map((column) => figure(results, name, column)),
  ]);
  return align(['', ...measured], rows, []);
}

/** One figure, as a document shows it; a dash if the row or table is missing. */
export function figure(results: string, name: string, column: ColumnName): string {
  const { heading, from, offset = 0 }: Column = columns[column];
  const row = heading === held && name === 'postern-key' ? 'postern' : name;
  const lines = results.split('\n').filter((line) => line.startsWith('| '));
  const first = lines.findIndex((line) => cellsOf(line).includes(heading));
  const headings = first < 0 ? [] : cellsOf(lines[first]!);
  const cells = lines.slice(first + 1).find((line) => cellsOf(line)[0] === row);
  const text = cells && cellsOf(cells)[headings.indexOf(from) + offset];
  return text === undefined ? none : rounded(text);
}

function cellsOf(line: string): string[] {
  return line
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());
}

/** Three digits at most, thousands apart; any other text stays. */
function rounded(text: string): string {
  const value = Number(text);
  if (!Number.isFinite(value)) return text;
  return value < 10 ? text : Math.round(value).toLocaleString('en');
}

function dateOf(results: string): string {
  const [, date = ''] = /^- Date: (\d{4}-\d\d-\d\d)/m.exec(results) ?? [];
  const [, upkeep = ''] = /^Measured on (\d{4}-\d\d-\d\d)\.$/m.exec(results) ?? [];
  return date === upkeep ? `Measured on ${date}.` : `Measured on ${date}, memory and starts on ${upkeep}.`;
}

/** The versions of the rows' programs, each once. */
function versionsOf(results: string, names: readonly Name[]): string {
  const versions = Object.entries(products).flatMap(([product, row]) => {
    const line = results.split('\n').find((text) => text.startsWith(`- ${row} (`));
    return names.includes(row) ? [`${product} ${/\(([^)]*)\)/.exec(line ?? '')?.[1] ?? '(unknown)'}`] : [];
  });
  return `Versions: ${versions.join(', ')}.`;
}

/** The text in lines of at most 130 characters, as documents are wrapped. */
function wrap(text: string): string {
  return text.replace(/(.{1,130})(?: |$)/g, '$1\n').trimEnd();
}
