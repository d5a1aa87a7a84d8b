import type { Test } from 'tap';
import type { ApiClient, ApiResponse } from '../clients/api-client.ts';
import { keysPath } from './key-administration.ts';

/** What the responses to creations and deletions of keys say so far, by label. */
export class AcknowledgedKeys {
  readonly there = new Map<string, { readonly id: string; readonly key: string }>();
  readonly deleted = new Map<string, string>();
  /** Asked for and not answered, or with 503: either way is right. */
  readonly unsure = new Set<string>();
  changes = 0;

  /** What speaks against these labels, of all that are in the store. */
  problems(found: ReadonlySet<string>): Record<'lost' | 'undead' | 'unexplained', string[]> {
    return {
      lost: [...this.there.keys()].filter((label) => !found.has(label)),
      undead: [...this.deleted.keys()].filter((label) => found.has(label)),
      unexplained: [...found].filter((label) => !this.there.has(label) && !this.unsure.has(label)),
    };
  }
}

/** Who changes keys, and for how long. */
export interface KeyChanges {
  /** What the labels begin with. */
  readonly name: string;
  /** So many changes in all, everybody's. */
  readonly until: number;
  /** The store is a server that may be gone too: 503 says so, and is a mistake otherwise. */
  readonly isStoreMortal?: boolean;
}

/**
 * Creates keys and deletes every other one again until there were enough changes, or the gateway or its store is gone.
 * Throws for any response but what was asked for.
 */
export async function changeKeys(
  api: ApiClient,
  bearer: string,
  known: AcknowledgedKeys,
  { name, until, isStoreMortal = false }: KeyChanges,
): Promise<void> {
  const own: string[] = [];
  for (let count = 0; known.changes < until; count += 1) {
    const doomed = count % 2 === 1 ? own.shift() : undefined;
    const label = doomed ?? `${name}.${count}`;
    const before = known.there.get(label);
    known.there.delete(label);
    known.unsure.add(label);
    const response = await (before === undefined
      ? create(api, bearer, label)
      : remove(api, bearer, before.id)
    ).catch(() => undefined);
    if (response === undefined || (isStoreMortal && response.status === 503)) return;
    if (response.status !== (before === undefined ? 201 : 204)) throw new Error(`answered ${response.text}`);
    known.unsure.delete(label);
    known.changes += 1;
    if (before === undefined) {
      known.there.set(label, response.json);
      own.push(label);
    } else known.deleted.set(label, before.key);
  }
}

function create(api: ApiClient, bearer: string, label: string): Promise<ApiResponse> {
  const json = { label, scopes: ['store:read'], scope_sets: ['administrator'] };
  return api.send({ method: 'POST', path: keysPath, bearer, json });
}

function remove(api: ApiClient, bearer: string, id: string): Promise<ApiResponse> {
  return api.send({ method: 'DELETE', path: keysPath + id, bearer });
}

/** Judges that the last few keys created are let in, and the last few deleted are not. */
export async function judgeUse(t: Test, api: ApiClient, { there, deleted }: AcknowledgedKeys): Promise<void> {
  const statusOf = async (apiKey: string) => (await api.send({ path: '/api/store/x', apiKey })).status;
  for (const { key } of [...there.values()].slice(-5)) t.equal(await statusOf(key), 200);
  for (const key of [...deleted.values()].slice(-5)) t.equal(await statusOf(key), 401);
}
