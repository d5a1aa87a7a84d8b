import type { HostCode, HostCodes } from '../credentials/host-code.ts';
import type { RefusedRequest } from '../http/exchange.ts';
import type { Session, Sessions } from '../stores/sessions.ts';
import type { SingleUse } from '../stores/single-use.ts';
import type { WebArea } from './area.ts';
import type { HostDestination } from './host-destination.ts';

/** A code that was good, and its session. */
export interface HostEntry {
  readonly code: HostCode;
  readonly session: Session;
}

/** Dependencies of {@link HostEntries}. */
export interface HostEntriesOptions {
  readonly area: Pick<WebArea, 'path'>;
  readonly codes: HostCodes;
  readonly singleUse: Pick<SingleUse, 'consume'>;
  readonly sessions: Pick<Sessions, 'find'>;
  /** True if a session and its user may be admitted now. Rejects with `store_unavailable`. */
  readonly isAlive: (sessionId: string) => Promise<boolean>;
  /** Epoch ms. */
  readonly now: () => number;
}

/** Lifetime of a code, ms. */
const lifetimeMs = 60_000;
/** Time for which a code stays used after its expiry, ms: for clock differences of replicas. */
const usedMarginMs = 60_000;

/** The entries of signed-in browsers to named hosts, each by a code that is good once. */
export class HostEntries {
  readonly #options: HostEntriesOptions;

  constructor(options: HostEntriesOptions) {
    this.#options = options;
  }

  /** The address at which the browser of a session enters a host, with a new code. */
  addressOf(sessionId: string, { host, path, start, isAgain }: HostDestination): string {
    const { area, codes, now } = this.#options;
    const expires = now() + lifetimeMs;
    const code = codes.write({ sessionId, host: host.name, start, path, isAgain, expires });
    return `${host.origin}${area.path}/enter?code=${code}`;
  }

  /**
   * Spends a code, whichever host it is for; resolves to null for one that isn't good, at the host with that name. Rejects with
   * `store_unavailable`, and then nothing is spent.
   */
  async spend(text: string, hostName: string): Promise<HostEntry | null> {
    const { codes, singleUse, sessions, isAlive, now } = this.#options;
    const code = codes.open(text);
    if (code === undefined || code.expires <= now()) return null;
    // What may be unavailable is asked first, so that the code can be used again.
    const session = await sessions.find(code.sessionId);
    const isLive = session !== undefined && (await isAlive(code.sessionId));
    const isFirst = await singleUse.consume(`code:${code.id}`, code.expires + usedMarginMs);
    return isFirst && isLive && code.host === hostName ? { code, session } : null;
  }

  /**
   * Spends the code of a request for `enter` that is refused before it has an endpoint: the browser shows the refusal at that
   * address, which scripts of the service may read from its history (Firefox tells it in spite of `no-referrer`).
   */
  spendRefused({ namedHost, path, query }: Pick<RefusedRequest, 'namedHost' | 'path' | 'query'>): void {
    if (namedHost === null || path !== `${this.#options.area.path}/enter`) return;
    const code = new URLSearchParams(query).get('code');
    // While the session store is unavailable, no code is good anyhow.
    if (code !== null) this.spend(code, namedHost.name).catch(() => {});
  }
}
