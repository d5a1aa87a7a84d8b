import { removedKinds } from '../http/removed-headers.ts';
import type { Log } from '../log/log.ts';

/** Number of requests on a route from which a header of that kind was removed. */
export interface RemovedCount {
  readonly route: string;
  readonly header: string;
  readonly count: number;
}

/** Receives what was counted since the last report, which may be nothing. */
export type ReportRemoved = (counts: readonly RemovedCount[]) => void;

/** Counts the requests from which headers were removed, by route and kind of header. */
export class RemovedHeaderCounts {
  readonly #byRoute = new Map<string, Uint32Array>();
  readonly #report: ReportRemoved;

  constructor(report: ReportRemoved) {
    this.#report = report;
  }

  /** Counts a request; `kinds`: bits in the order of {@link removedKinds}. */
  count(route: string, kinds: number): void {
    let counts = this.#byRoute.get(route);
    if (counts === undefined) {
      counts = new Uint32Array(removedKinds.length);
      this.#byRoute.set(route, counts);
    }
    for (let kind = 0; kind < counts.length; kind++)
      if ((kinds & (1 << kind)) !== 0) counts[kind] = counts[kind]! + 1;
  }

  /** Reports the counts and resets them; called once a second, and at the end. */
  report(): void {
    const counts = [...this.#byRoute].flatMap(([route, ofRoute]) =>
      removedKinds.flatMap((header, kind) => {
        const count = ofRoute[kind]!;
        return count === 0 ? [] : [{ route, header, count }];
      }),
    );
    this.#byRoute.clear();
    this.#report(counts);
  }
}

const lineIntervalMs = 3_600_000;

interface Waiting {
  readonly route: string;
  readonly header: string;
  count: number;
  /** Instant of the last line, epoch ms. */
  loggedAt: number;
}

/**
 * The log lines about removed headers, of all processes of a gateway together: one for a route and kind of header as soon as
 * there is something to say, then one an hour at most.
 */
export class RemovedHeaderLines {
  readonly #waiting = new Map<string, Waiting>();
  readonly #log: Pick<Log, 'info'>;
  readonly #now: () => number;

  /** `now`: the clock, epoch ms. */
  constructor(log: Pick<Log, 'info'>, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  /** Adds counts, and writes the lines that are due; called once a second. */
  add(counts: readonly RemovedCount[]): void {
    for (const { route, header, count } of counts) {
      const key = `${header} ${route}`;
      const known = this.#waiting.get(key);
      if (known === undefined)
        this.#waiting.set(key, { route, header, count, loggedAt: Number.NEGATIVE_INFINITY });
      else known.count += count;
    }
    if (this.#waiting.size > 0) this.#writeDue();
  }

  #writeDue(): void {
    const now = this.#now();
    for (const [key, waiting] of this.#waiting) {
      // A clock that was set back must not silence the log.
      if (Math.abs(now - waiting.loggedAt) < lineIntervalMs) continue;
      const { route, header, count } = waiting;
      if (count === 0) {
        this.#waiting.delete(key);
        continue;
      }
      this.#log.info('headers of clients removed', { header, route, count });
      waiting.count = 0;
      waiting.loggedAt = now;
    }
  }
}
