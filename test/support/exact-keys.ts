import type { Test } from 'tap';
import type { ApiResponse } from './api-client.ts';

/** The calls about API keys, at whatever gateway is next. */
export interface KeyCalls {
  /** Mints a key; gives its id. */
  mint(): Promise<string>;
  /** Below the path of the keys. */
  call(method: string, path: string): Promise<ApiResponse>;
}

const idsOf = ({ json }: ApiResponse): string[] => json.items.map(({ id }: { id: string }) => id);

/** Judges that 64 creations and deletions at a time, with lists in between, leave in each round what was acknowledged. */
export async function judgeExactKeys(t: Test, { mint, call }: KeyCalls, rounds: number): Promise<void> {
  /** As acknowledged. */
  const there = new Set<string>();
  const gone = new Set<string>();
  const create = async (): Promise<void> => {
    there.add(await mint());
  };
  const remove = async (id: string) => {
    // From here on a list may have it or not.
    there.delete(id);
    const { status } = await call('DELETE', id);
    if (status !== 204) throw new Error(`deleting was answered ${status}`);
    gone.add(id);
  };
  const list = async () => {
    const [thereBefore, goneBefore] = [new Set(there), new Set(gone)];
    const response = await call('GET', '?size=100');
    const ids = new Set(idsOf(response));
    const missed = [...thereBefore].filter((id) => there.has(id) && !ids.has(id));
    const undead = [...goneBefore].filter((id) => ids.has(id));
    if (response.json.total !== response.json.items.length || missed.length > 0 || undead.length > 0)
      t.fail('a list is not exact', { total: response.json.total, ids, missed, undead });
  };

  for (let round = 0; round < rounds; round += 1) {
    const doomed = [...there].slice(0, 32);
    const changes = Array.from({ length: 64 - doomed.length }, create);
    changes.push(...doomed.map(remove));
    await Promise.all([...changes, ...Array.from({ length: 16 }, list)]);
    const response = await call('GET', '?size=100');
    t.equal(response.json.total, there.size);
    t.strictSame(new Set(idsOf(response)), there);
    while (there.size > 36) await remove([...there][0]!);
  }
}

/** Judges that of 64 who delete the same key one does, and the others find none. */
export async function judgeOneDeletion(t: Test, { mint, call }: KeyCalls): Promise<void> {
  const id = await mint();
  const responses = await Promise.all(Array.from({ length: 64 }, () => call('DELETE', id)));
  const counted = [204, 404].map(
    (status) => responses.filter((response) => response.status === status).length,
  );
  t.strictSame(counted, [1, 63], 'of 64 who delete the same key one does');
}
