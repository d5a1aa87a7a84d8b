import type { Disturbances } from './disturbances.ts';
import type { Instant } from './register.ts';

/** One request of a client, and what became of it. */
export interface Operation {
  /** Also its `X-Request-Id`. */
  readonly id: string;
  readonly what: string;
  readonly gateway: number;
  readonly from: Instant;
  /** Infinite until there is a response. */
  to: Instant;
  result: string;
}

/** An operation in the history of one record. */
interface Entry {
  readonly operation: Operation;
  /** Whether it changed, or made, that record. */
  readonly isChange: boolean;
}

/** A promise that was not kept. */
export interface Violation {
  readonly at: Instant;
  readonly promise: string;
  /** What happened to the records concerned, as lines. */
  readonly history: readonly string[];
}

/** How many operations of a record are remembered, and how many of them a violation shows. */
const remembered = 80;
const shownChanges = 8;
const shownReads = 4;
/** Faults that ended before are not part of the story. */
const shownFaultsMs = 10_000;

/** What the clients did, by record; and what was wrong with it. */
export class History {
  readonly violations: Violation[] = [];
  readonly counts = new Map<string, number>();
  readonly #operations = new WeakMap<object, Entry[]>();
  readonly #disturbances: Disturbances;

  constructor(disturbances: Disturbances) {
    this.#disturbances = disturbances;
  }

  /** `isChange`: whether it changes what it is about. */
  begin(about: readonly object[], isChange: boolean, operation: Omit<Operation, 'to' | 'result'>): Operation {
    const begun = { ...operation, to: Number.POSITIVE_INFINITY, result: '…' };
    for (const record of about) this.#add(record, { operation: begun, isChange });
    return begun;
  }

  /** It turned out to have made that record. */
  made(record: object, operation: Operation): void {
    this.#add(record, { operation, isChange: true });
  }

  #add(record: object, entry: Entry): void {
    const entries = this.#operations.get(record) ?? [];
    entries.push(entry);
    if (entries.length > remembered) {
      const read = entries.findIndex(({ isChange }) => !isChange);
      entries.splice(Math.max(read, 0), 1);
    }
    this.#operations.set(record, entries);
  }

  end(operation: Operation, at: Instant, result: string): void {
    operation.to = at;
    operation.result = result;
    const kind = `${operation.what.split(' ', 2).join(' ')} ${result.split(' ', 1)[0]}`;
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
  }

  /** Notes that a promise about the first of those records was broken; the others have a part in it. */
  violated(promise: string, at: Instant, about: readonly object[]): void {
    this.violations.push({ at, promise, history: this.story(about, at) });
  }

  /**
   * The first record's beginning, changes and last reads; of the others the changes since it was made, and the last one
   * before; the faults.
   */
  story(about: readonly object[], at: Instant): string[] {
    const operations = new Set<Operation>();
    const [first] = about;
    const own = (first && this.#operations.get(first)) ?? [];
    for (const { operation } of own.filter(({ isChange }) => !isChange).slice(-shownReads))
      operations.add(operation);
    if (own[0] !== undefined) operations.add(own[0].operation);
    const madeAt = own[0]?.operation.from ?? 0;
    for (const record of about) {
      const changes = (this.#operations.get(record) ?? []).filter(({ isChange }) => isChange);
      const before = changes.filter(({ operation }) => operation.to < madeAt).slice(-1);
      const since = changes.filter(({ operation }) => operation.to >= madeAt);
      for (const { operation } of [...before, ...since].slice(-shownChanges)) operations.add(operation);
    }
    const lines = [...operations].map((operation) => ({
      from: operation.from,
      text: `${stretch(operation.from, operation.to)}  gateway ${operation.gateway}  ${operation.what}: ${operation.result}  (${operation.id})`,
    }));
    const faults = this.#disturbances.during(at - shownFaultsMs, at).map(({ kind, from, to }) => ({
      from,
      text: `${stretch(from, to)}  fault: ${kind}`,
    }));
    return [...lines, ...faults].toSorted((a, b) => a.from - b.from).map(({ text }) => text);
  }
}

function stretch(from: Instant, to: Instant): string {
  const end = Number.isFinite(to) ? (to / 1000).toFixed(3) : '…';
  return `${(from / 1000).toFixed(3).padStart(8)} - ${end.padStart(8)} s`;
}

/** As people read it. */
export function describeViolation({ at, promise, history }: Violation): string {
  return [`at ${(at / 1000).toFixed(3)} s: ${promise}`, ...history.map((line) => `  ${line}`)].join('\n');
}
