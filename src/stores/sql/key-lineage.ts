import type { RemovedApiKey } from '../api-key.ts';
import type { Dialect } from './dialect.ts';
import { all, first, noteChange, run, type Steps } from './steps.ts';

/** A key, or the trace of a deleted one. */
interface Link {
  readonly id: string;
  readonly parent: string | null;
}

/** A key that was deleted just now. */
type Removed = Link & RemovedApiKey;

const hasChild = `(EXISTS (SELECT 1 FROM api_keys c WHERE c.parent = k.id)
  OR EXISTS (SELECT 1 FROM removed_api_keys c WHERE c.parent = k.id))`;
/** Keeps a key that is about to be deleted as a link, if any key was minted with it. */
const keepLink = `INSERT INTO removed_api_keys (id, parent)
  SELECT k.id, k.parent FROM api_keys k WHERE k.id = ? AND ${hasChild}`;
const keepLinksOf = `INSERT INTO removed_api_keys (id, parent)
  SELECT k.id, k.parent FROM api_keys k WHERE k.created_by = ? AND ${hasChild}`;
const removeOne = 'DELETE FROM api_keys WHERE id = ? RETURNING id, parent, label, created_by AS "createdBy"';
const removeOwned =
  'DELETE FROM api_keys WHERE created_by = ? RETURNING id, parent, label, created_by AS "createdBy"';
const dropLink = `DELETE FROM removed_api_keys AS k WHERE id = ? AND NOT ${hasChild} RETURNING id, parent`;
const selectLink =
  'SELECT id, parent FROM api_keys WHERE id = ? UNION ALL SELECT id, parent FROM removed_api_keys WHERE id = ?';

/** Maximum number of links without descendants that one deletion drops; any left over do no harm. */
const maxDropped = 100;

/** Transaction steps that delete keys and return them, without losing track of which key was minted with which. */
export class KeyLineage {
  readonly #selectChildren: string;
  readonly #removeThese: string;
  readonly #dropThese: string;

  constructor({ elementsOf }: Dialect) {
    const ids = `(SELECT value FROM ${elementsOf('?')})`;
    this.#selectChildren = `SELECT id FROM api_keys WHERE parent IN ${ids}
      UNION ALL SELECT id FROM removed_api_keys WHERE parent IN ${ids}`;
    this.#removeThese = `DELETE FROM api_keys WHERE id IN ${ids} RETURNING id, label, created_by AS "createdBy"`;
    this.#dropThese = `DELETE FROM removed_api_keys WHERE id IN ${ids}`;
  }

  /** Deletes one key, but not the keys that were minted with it. */
  *removeKey(id: string): Steps<readonly RemovedApiKey[]> {
    yield* run(keepLink, id);
    const removed = yield* run<Removed>(removeOne, id);
    if (removed.length === 0) return [];
    yield* dropLinksAbove(removed);
    yield* noteChange({ keys: [id] });
    return removed.map(withoutParent);
  }

  /** Deletes a key and all that were minted with it, at any depth, with one query for each generation. */
  *removeWithChildren(id: string): Steps<readonly RemovedApiKey[]> {
    const top = yield* first<Link>(selectLink, id, id);
    if (top === undefined) return [];
    const family = [id];
    for (let generation: readonly string[] = family; generation.length > 0; ) {
      const parents = JSON.stringify(generation);
      generation = (yield* all<Link>(this.#selectChildren, parents, parents)).map((child) => child.id);
      family.push(...generation);
    }
    const familyIds = JSON.stringify(family);
    const removed = yield* run<RemovedApiKey>(this.#removeThese, familyIds);
    yield* run(this.#dropThese, familyIds);
    yield* dropLinksAbove([top]);
    const removedIds = removed.map((key) => key.id);
    if (removedIds.length > 0) yield* noteChange({ keys: removedIds });
    return removed;
  }

  /** Deletes every key of a user; the caller notes the change. */
  *removeKeysOf(userId: string): Steps<readonly RemovedApiKey[]> {
    yield* run(keepLinksOf, userId);
    const removed = yield* run<Removed>(removeOwned, userId);
    yield* dropLinksAbove(removed);
    return removed.map(withoutParent);
  }
}

function withoutParent({ id, label, createdBy }: Removed): RemovedApiKey {
  return { id, label, createdBy };
}

/** Drops the links above deleted keys, as far up as they have no other descendants. */
function* dropLinksAbove(keys: readonly Link[]): Steps<void> {
  let left = maxDropped;
  for (const { parent } of keys)
    for (let id = parent; id !== null && left > 0; left--)
      id = (yield* run<Link>(dropLink, id))[0]?.parent ?? null;
}
