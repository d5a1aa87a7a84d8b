import type { Socket } from 'node:net';
import { addressKey } from '../credentials/address-key.ts';

/** Counts the open connections of each client address. */
export class ConnectionsByAddress {
  readonly #counts = new Map<string, number>();

  /** Counts the connection until it closes; false if its address already has `max` of them. 0: no limit. */
  admit(socket: Socket, max: number): boolean {
    if (max === 0) return true;
    const key = addressKey(socket.remoteAddress ?? '');
    const count = this.#counts.get(key) ?? 0;
    if (count >= max) return false;
    this.#counts.set(key, count + 1);
    socket.once('close', () => this.#leave(key));
    return true;
  }

  #leave(key: string): void {
    const left = this.#counts.get(key)! - 1;
    if (left === 0) this.#counts.delete(key);
    else this.#counts.set(key, left);
  }
}
