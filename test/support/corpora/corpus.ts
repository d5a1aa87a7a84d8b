import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One row of a corpus; README.md there describes its members. */
export interface CorpusRow {
  readonly name: string;
  readonly send: string | readonly string[];
  readonly expect: 'forwarded' | number;
  readonly code?: string;
  readonly responses?: readonly number[];
  readonly open?: boolean;
  readonly seen?: readonly string[];
  readonly body?: string;
  readonly has?: Readonly<Record<string, readonly string[]>>;
  readonly as?: 'key' | 'session' | 'nobody';
  readonly host?: string;
}

const folder = join(import.meta.dirname, '../../corpora');

/** Every member that README.md there describes: a misspelt one would expect nothing. */
const members: ReadonlySet<string> = new Set(
  'name send expect code responses open seen body has as host lenient header claims sign wrap leads values path needs'.split(
    ' ',
  ),
);

/** The rows of `test/corpora/<name>.jsonl`, without empty lines and titles. Throws on a row with an unknown member. */
export function readCorpus<Row = CorpusRow>(name: string): Row[] {
  return readFileSync(join(folder, `${name}.jsonl`), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const row = JSON.parse(line);
      for (const member of Object.keys(row))
        if (!members.has(member)) throw new Error(`${name}.jsonl, ${row.name}: unknown member ${member}`);
      return row;
    });
}

const placeholder = /\{\{([^{}]+)\}\}/g;
const repetition = /^(.+)\*(\d+)$/s;

/** Replaces `{{name}}`, also within values, and expands repetitions: `{{ab*2}}` is `abab`. */
export function expand(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(placeholder, (_, inside: string) => {
    const value = values[inside];
    if (value !== undefined) return expand(value, values);
    const [, repeated, times] = repetition.exec(inside) ?? [];
    if (repeated === undefined) throw new Error(`no placeholder: ${inside}`);
    return repeated.replaceAll('CRLF', '\r\n').repeat(Number(times));
  });
}

/** The pieces in which a row is sent. */
export function piecesOf(row: CorpusRow, values: Readonly<Record<string, string>>): string[] {
  const pieces = typeof row.send === 'string' ? [row.send] : row.send;
  return pieces.map((piece) => expand(piece, values));
}

/** A row in full, its short forms written out. */
export interface Expectation {
  readonly responses: readonly number[];
  /** The connection stays open. */
  readonly open: boolean;
  /** `METHOD target` of every request that reaches the upstream in full. */
  readonly seen: readonly string[];
}

/** What a row expects; `sent` is what it sends. */
export function expectationOf(row: CorpusRow, sent: string): Expectation {
  const isForwarded = row.expect === 'forwarded';
  return {
    responses: row.responses ?? [isForwarded ? 200 : (row.expect as number)],
    open: row.open ?? isForwarded,
    seen: row.seen ?? (isForwarded ? [requestLineOf(sent)] : []),
  };
}

function requestLineOf(sent: string): string {
  const [method, target] = sent.trimStart().split(' ', 2);
  return `${method} ${target}`;
}
