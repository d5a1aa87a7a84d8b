import type { Config } from '../config/schema.ts';
import { Refusal } from '../errors.ts';
import type { Dependency } from '../http/management.ts';
import type { Log } from '../log/log.ts';
import type { StoreEvents, Stores } from './stores.ts';

/** Whether the stores can be reached: what they report goes into the log and decides what `/readyz` says. */
export class StoreHealth {
  readonly #log: Pick<Log, 'info' | 'warn'>;
  #stores: Stores | null = null;
  /** As by `performance.now()`. */
  #recordsUnavailableSince: number | null = null;

  constructor(log: Pick<Log, 'info' | 'warn'>) {
    this.#log = log;
  }

  /** Called once the gateway serves from these stores: until then they count as unavailable. */
  serveFrom(stores: Stores): void {
    this.#stores = stores;
  }

  /** What the stores report, from their opening on. */
  readonly events: StoreEvents = {
    onUnavailable: (store, reason, since = performance.now()) => {
      if (store === 'records') this.#recordsUnavailableSince = since;
      this.#log.warn('store unavailable', { store, reason });
    },
    onAvailable: (store) => {
      if (store === 'records') this.#recordsUnavailableSince = null;
      this.#log.info('store available again', { store });
    },
    onNotificationsLost: (store, reason) =>
      this.#log.warn('store change notifications unavailable', { store, reason }),
    onNarrowed: (file, mode) => this.#log.warn('store file was open to others', { file, mode }),
  };

  /**
   * The dependencies of `/readyz`: without records the gateway is ready for `stale_if_error`, without sessions always.
   */
  dependencies({ sessions }: Config): readonly Dependency[] {
    return [
      {
        name: 'records',
        toleranceMs: sessions.stale_if_error,
        ping: async () => this.#requireStores().records.ping(),
        unavailableSince: () =>
          this.#stores === null ? Number.NEGATIVE_INFINITY : this.#recordsUnavailableSince,
      },
      {
        name: 'sessions',
        toleranceMs: Number.POSITIVE_INFINITY,
        ping: async () => this.#requireStores().sessions.ping(),
      },
    ];
  }

  #requireStores(): Stores {
    if (this.#stores === null) throw new Refusal('store_unavailable');
    return this.#stores;
  }
}
