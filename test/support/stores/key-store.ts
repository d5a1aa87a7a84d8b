import { decideTurn } from '../../../src/stores/key-schedule.ts';
import type { KeyChange, KeyTurnRequest } from '../../../src/stores/signing-keys.ts';
import { isOfSeries, type SigningKey, type StoredKeys } from '../../../src/stores/signing-keys.ts';

/** The part of the records that holds keys that sign, in memory and as a test wants it. */
export class KeyStore {
  keys: readonly SigningKey[];
  time = 0;
  changes = 0;
  asked = 0;
  isDown = false;

  constructor(...keys: readonly SigningKey[]) {
    this.keys = keys;
  }

  version(): number {
    return this.changes;
  }

  async signingKeys(): Promise<StoredKeys> {
    this.asked += 1;
    if (this.isDown) throw new Error('down');
    return { keys: this.keys, time: this.time };
  }

  async turnSigningKeys({ series, times, candidate }: KeyTurnRequest): Promise<KeyChange> {
    const ofSeries = this.keys.filter((key) => isOfSeries(key, series));
    const turn = decideTurn(ofSeries, times, this.time);
    const added = turn.needs === null ? null : candidate;
    if (added !== null) this.#add(added, turn.needs === 'signer');
    return {
      keys: this.keys,
      time: this.time,
      turn,
      added: added?.kid ?? null,
      revoked: null,
      requested: null,
    };
  }

  #add(candidate: NonNullable<KeyTurnRequest['candidate']>, signs: boolean): void {
    const key: SigningKey = {
      ...candidate,
      created: this.time,
      signsFrom: signs ? this.time : null,
      retired: null,
      requested: null,
      lifetimeMs: 0,
    };
    this.keys = [key, ...this.keys];
    this.changes += 1;
  }
}
