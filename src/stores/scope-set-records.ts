import type { Awaitable } from './awaitable.ts';
import type { JudgedChange } from './caller.ts';
import type { FieldFilter, ListPage, ListQuery } from './list-query.ts';
import type { ScopeSet } from './scope-set.ts';

/** A scope set as it is administered. */
export interface ScopeSetRecord extends ScopeSet {
  /** Kept by the configuration, which alone may change it. */
  readonly managed: boolean;
  /** Grows with every write. */
  readonly version: number;
}

/** Fields of a new scope set; `scopes` are sorted. */
export type NewScopeSet = Pick<ScopeSet, 'id' | 'name' | 'description' | 'scopes'>;

/** Changed fields of a scope set; absent fields stay. */
export type ScopeSetChanges = Partial<Pick<ScopeSet, 'name' | 'description' | 'scopes'>>;

/** A record before and after a change; the same object where nothing was changed. */
export interface Changed<Record> {
  readonly before: Record;
  readonly after: Record;
}

/** Query of scope sets. */
export type ScopeSetQuery = ListQuery<ScopeSetSortField, readonly FieldFilter<ScopeSetFilterField>[]>;
export type ScopeSetSortField = 'name' | 'created' | 'updated';
export type ScopeSetFilterField = 'name' | 'scopes' | 'managed' | 'created' | 'updated';

/** The part of the records store by which scope sets are administered; the built-in set is among them. */
export interface ScopeSetRecords {
  listScopeSets(query: ScopeSetQuery): Awaitable<ListPage<ScopeSetRecord>>;
  findScopeSet(id: string): Awaitable<ScopeSetRecord | undefined>;
  /** Refuses `conflict` when the name is taken. */
  createScopeSet(change: JudgedChange<null, NewScopeSet, ScopeSetRecord>): Promise<ScopeSetRecord>;
  /** The set as changed, undefined when there is none. Refuses `conflict` when the name is taken. */
  changeScopeSet(
    id: string,
    change: JudgedChange<ScopeSetRecord, ScopeSetChanges, Changed<ScopeSetRecord>>,
  ): Promise<ScopeSetRecord | undefined>;
  /** False when there is none. Refuses `in_use` while a user, an identity or a key holds it. */
  removeScopeSet(id: string, change: JudgedChange<ScopeSetRecord, void, ScopeSetRecord>): Promise<boolean>;
}
