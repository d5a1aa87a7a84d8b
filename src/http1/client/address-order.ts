import { isIPv6 } from 'node:net';

/** Initial and maximum time for which an address that failed to connect is tried last, ms; it doubles with each failure. */
export const firstRetryMs = 30_000;
export const maxRetryMs = 600_000;
/** Maximum number of addresses that one connection tries. */
export const maxAddresses = 64;

interface Standing {
  readonly retryMs: number;
  retryAt: number;
}

/**
 * Order in which new connections try the addresses of an upstream: addresses that work take turns at coming first, so that all of
 * them get connections, and those that failed recently come last until a retry is due. Instants are in ms, all by one clock.
 */
export class AddressOrder {
  readonly #failed = new Map<string, Standing>();
  #turn = -1;

  /** The order for one connection. IPv4 and IPv6 alternate among working addresses and among failed ones (RFC 8305 §4). */
  next(addresses: readonly string[], now: number): readonly string[] {
    this.#turn++;
    for (const address of this.#failed.keys()) if (!addresses.includes(address)) this.#failed.delete(address);
    // If all addresses have failed, the network or the whole service is at fault, not an address.
    if (this.#failed.size === new Set(addresses).size) this.#failed.clear();
    const good = addresses.filter((address) => !this.#failed.has(address));
    const failed = addresses.filter((address) => this.#failed.has(address));
    // Only one failed address is tried first again: a connection waits for at most one that is still dead.
    const due = failed.find((each) => this.#failed.get(each)!.retryAt <= now);
    if (due !== undefined) this.#failed.get(due)!.retryAt = now + this.#failed.get(due)!.retryMs;
    const order = [
      ...(due === undefined ? [] : [due]),
      ...alternating(rotated(good, this.#turn)),
      ...alternating(rotated(failed, this.#turn)).filter((address) => address !== due),
    ];
    return order.slice(0, maxAddresses);
  }

  worked(address: string): void {
    this.#failed.delete(address);
  }

  /** Notes that an address failed to connect, or was slower than an address tried later. */
  failed(address: string, now: number): void {
    const before = this.#failed.get(address);
    const retryMs = before === undefined ? firstRetryMs : Math.min(maxRetryMs, 2 * before.retryMs);
    this.#failed.set(address, { retryMs, retryAt: now + retryMs });
  }
}

function rotated(addresses: readonly string[], turn: number): readonly string[] {
  const at = turn % Math.max(1, addresses.length);
  return [...addresses.slice(at), ...addresses.slice(0, at)];
}

/** Alternates between IPv4 and IPv6, beginning with the family of the first address. */
function alternating(addresses: readonly string[]): string[] {
  const isSix = isIPv6(addresses[0] ?? '');
  const first = addresses.filter((address) => isIPv6(address) === isSix);
  const second = addresses.filter((address) => isIPv6(address) !== isSix);
  return first
    .flatMap((address, i) => [address, ...second.slice(i, i + 1)])
    .concat(second.slice(first.length));
}
