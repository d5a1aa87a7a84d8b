import { Refusal } from '../errors.ts';
import type { Dependency } from '../http/readiness.ts';
import type { Log } from '../log/log.ts';
import type { StoreEvents, StoreName, Stores } from './stores.ts';

/** Health of the stores: their events go into the log and decide what `/readyz` says. */
export class StoreHealth {
  readonly #log: Pick<Log, 'info' | 'warn'>;
  #stores: Stores | null = null;
  /** Unavailable stores, each with the reason and the beginning, by `performance.now()`, of its outage. */
  readonly #outages = new Map<StoreName, { readonly reason: string; readonly since: number }>();

  constructor(log: Pick<Log, 'info' | 'warn'>) {
    this.#log = log;
  }

  /** Called once the gateway serves from these stores: until then they count as unavailable. */
  serveFrom(stores: Stores): void {
    this.#stores = stores;
  }

  /** Handlers of the stores' events, from their opening on. */
  readonly events: StoreEvents = {
    onUnavailable: (store, reason, since = performance.now()) => {
      this.#outages.set(store, { reason, since: this.#outages.get(store)?.since ?? since });
      this.#log.warn('store unavailable', { store, reason });
    },
    onAvailable: (store) => {
      this.#outages.delete(store);
      this.#log.info('store available again', { store });
    },
    onNotificationsLost: (store, reason) =>
      this.#log.warn(
        'store does not deliver change notifications; it is checked at short intervals instead',
        { store, reason },
      ),
    onCreated: (store, file) => this.#log.info('store file created', { store, file }),
    onLogHeld: (store, { bytes, heldMs }) =>
      this.#log.warn(
        'write-ahead log of the store file is growing: a backup or another reader holds a snapshot open',
        { store, wal_bytes: bytes, snapshot_held_seconds: Math.round(heldMs / 1000) },
      ),
    onLogEmptied: (store) => this.#log.info('write-ahead log of the store file is small again', { store }),
    onSecretsEncrypted: (isRemaining) =>
      isRemaining
        ? this.#log.warn(
            'records file may still contain an earlier copy of private keys and secrets, because it could not be rewritten (in use, or the disk full or failing); the next start tries again',
          )
        : this.#log.info(
            'private keys and secrets in the records store were encrypted with the first key of records_encryption',
          ),
    onOtherTenant: (owner) =>
      this.#log.warn(
        'the records belong to another tenant, with its users and keys: give each tenant a file of its own, unless it was renamed',
        { records_of: owner },
      ),
    onNarrowed: (file, mode) =>
      this.#log.warn('store file was accessible to other users; its mode was changed to 0600', {
        file,
        former_mode: mode,
      }),
  };

  /** True if the store is usable, as far as is known without asking it. */
  isAvailable(store: StoreName): boolean {
    return !this.#outages.has(store);
  }

  /** Dependencies of `/readyz`: the gateway is ready without the records for `stale_if_error`, without the sessions always. */
  dependencies(staleIfErrorMs: () => number): readonly Dependency[] {
    return [
      {
        name: 'records',
        toleranceMs: staleIfErrorMs,
        ping: async () => this.#requireStores().records.ping(),
        unavailableSince: () =>
          this.#stores === null ? Number.NEGATIVE_INFINITY : (this.#outages.get('records')?.since ?? null),
        reason: () => this.#outages.get('records')?.reason,
      },
      {
        name: 'sessions',
        toleranceMs: () => Number.POSITIVE_INFINITY,
        ping: async () => this.#requireStores().sessions.ping(),
        reason: () => this.#outages.get('sessions')?.reason,
      },
    ];
  }

  #requireStores(): Stores {
    if (this.#stores === null) throw new Refusal('store_unavailable');
    return this.#stores;
  }
}
