import type { Awaitable } from './awaitable.ts';
import type { JudgedChange } from './caller.ts';
import type { FieldFilter, ListPage, ListQuery } from './list-query.ts';
import type { ScopeSet } from './scope-set.ts';

/** A scope set as an administered record. */
export interface ScopeSetRecord extends ScopeSet {
  /** True if the configuration defines the set, which then can't be changed otherwise. */
  readonly managed: boolean;
  /** Grows with every write. */
  readonly version: number;
}

/** Fields of a new scope set; `scopes` are sorted. */
export type NewScopeSet = Pick<ScopeSet, 'id' | 'name' | 'description' | 'scopes'>;

/** Changed fields of a scope set; absent fields stay as they are. */
export type ScopeSetChanges = Partial<Pick<ScopeSet, 'name' | 'description' | 'scopes'>>;

/** A record before and after a change; both are the same object if nothing was changed. */
export interface Changed<Record> {
  readonly before: Record;
  readonly after: Record;
}

/** Query of scope sets. */
export type ScopeSetQuery = ListQuery<ScopeSetSortField, readonly FieldFilter<ScopeSetFilterField>[]>;
export type ScopeSetSortField = 'name' | 'created' | 'updated';
export type ScopeSetFilterField = 'name' | 'scopes' | 'managed' | 'created' | 'updated';

/** The part of the records store for the administration of scope sets, including the built-in one. */
export interface ScopeSetRecords {
  listScopeSets(query: ScopeSetQuery): Awaitable<ListPage<ScopeSetRecord>>;
  findScopeSet(id: string): Awaitable<ScopeSetRecord | undefined>;
  /** Creates a set. Refuses `conflict` when the name is taken. */
  createScopeSet(change: JudgedChange<null, NewScopeSet, ScopeSetRecord>): Promise<ScopeSetRecord>;
  /** Changes a set; resolves to the changed set, undefined when there is none. Refuses `conflict` when the name is taken. */
  changeScopeSet(
    id: string,
    change: JudgedChange<ScopeSetRecord, ScopeSetChanges, Changed<ScopeSetRecord>>,
  ): Promise<ScopeSetRecord | undefined>;
  /** Removes a set; resolves to false when there is none. Refuses `in_use` while a user, an identity or a key holds it. */
  removeScopeSet(id: string, change: JudgedChange<ScopeSetRecord, void, ScopeSetRecord>): Promise<boolean>;
}
