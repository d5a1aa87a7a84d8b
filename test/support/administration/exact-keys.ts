import type { Test } from 'tap';
import type { ApiResponse } from '../clients/api-client.ts';
import { isLong } from '../gateway/gateway-under-load.ts';

/** Calls the API keys at whatever gateway is next; the path is below theirs. */
export type CallKeys = (method: string, path: string, json?: object) => Promise<ApiResponse>;

interface ListedKey {
  readonly id: string;
  readonly label: string;
}

const listPath = '?size=100';
const mostUnknown = isLong ? 0.75 : 0.99;

/**
 * Judges that 64 creations and deletions at a time, with lists in between, leave in each round what was acknowledged. On
 * a machine so busy that the store does not respond in time some are 503, and may have been made nevertheless: a key
 * is then whichever it turns out to be, and a deletion is repeated. A quarter of all have to be acknowledged, and some on any
 * machine.
 */
export async function judgeExactKeys(t: Test, call: CallKeys, scopes: readonly string[], rounds: number) {
  const keys = new KeysInTurn(call, scopes);
  const { there, gone } = keys;
  const list = async () => {
    const [thereBefore, goneBefore] = [new Set(there), new Set(gone)];
    const { json } = await call('GET', listPath);
    const ids = new Set(json.items.map(({ id }: ListedKey) => id));
    const missed = [...thereBefore].filter((id) => there.has(id) && !ids.has(id));
    const undead = [...goneBefore].filter((id) => ids.has(id));
    if (json.total !== json.items.length || missed.length > 0 || undead.length > 0)
      t.fail('a list is not exact', { total: json.total, ids, missed, undead });
  };

  for (let round = 0; round < rounds; round += 1) {
    const doomed = [...there].slice(0, 32);
    const changes = Array.from({ length: 64 - doomed.length }, () => keys.create());
    changes.push(...doomed.map((id) => keys.remove(id)));
    await Promise.all([...changes, ...Array.from({ length: 16 }, list)]);
    const { json } = await call('GET', listPath);
    keys.adopt(json.items);
    t.equal(json.total, there.size);
    t.strictSame(new Set(json.items.map(({ id }: ListedKey) => id)), there);
    while (there.size > 36) await keys.remove([...there][0]!);
  }
  t.ok(keys.unknown < keys.calls * mostUnknown, `${keys.unknown} of ${keys.calls} were 503`);
}

/** Judges that of 64 who delete the same key one does, and the others find none. */
export async function judgeOneDeletion(t: Test, call: CallKeys, scopes: readonly string[]): Promise<void> {
  const { json } = await call('POST', '', { label: 'a key', scopes });
  const calls = Array.from({ length: 64 }, () => deleteAtLast(call, json.id));
  const outcomes = (await Promise.all(calls)).map(({ status, refused }) => (refused > 0 ? 0 : status));
  const countOf = (wanted: number) => outcomes.filter((status) => status === wanted).length;
  const doubtful = countOf(0);
  const deleted = countOf(204);
  t.ok(deleted === 1 || (deleted === 0 && doubtful > 0), `deleted by ${deleted}`);
  t.equal(countOf(404), 64 - deleted - doubtful, 'the others find none');
  t.ok(doubtful < 48, `${doubtful} of 64 were 503 at first`);
}

class KeysInTurn {
  /** As acknowledged. */
  readonly there = new Set<string>();
  readonly gone = new Set<string>();
  calls = 0;
  /** How many were 503. */
  unknown = 0;
  readonly #call: CallKeys;
  readonly #scopes: readonly string[];
  readonly #doubtful = new Set<string>();

  constructor(call: CallKeys, scopes: readonly string[]) {
    this.#call = call;
    this.#scopes = scopes;
  }

  async create(): Promise<void> {
    this.calls += 1;
    const label = `key ${this.calls}`;
    const { status, json, text } = await this.#call('POST', '', { label, scopes: this.#scopes });
    if (status === 201) this.there.add(json.id);
    else if (status !== 503) throw new Error(`minting was answered ${status} ${text}`);
    else {
      this.unknown += 1;
      this.#doubtful.add(label);
    }
  }

  async remove(id: string): Promise<void> {
    this.calls += 1;
    // From here on a list may have it or not.
    this.there.delete(id);
    const { status, refused } = await deleteAtLast(this.#call, id);
    this.unknown += refused;
    if (status !== 204 && !(status === 404 && refused > 0))
      throw new Error(`deleting was answered ${status}`);
    this.gone.add(id);
  }

  /** Counts those of a list as acknowledged whose creation was 503. */
  adopt(listed: readonly ListedKey[]): void {
    for (const { id, label } of listed) if (this.#doubtful.delete(label)) this.there.add(id);
  }
}

/** Repeats the deletion of a key while it is 503; `refused` is how often it was. */
async function deleteAtLast(call: CallKeys, id: string): Promise<{ status: number; refused: number }> {
  for (let refused = 0; ; refused += 1) {
    const { status } = await call('DELETE', id);
    if (status !== 503 || refused === 10) return { status, refused };
  }
}
