/** The id and name of the built-in scope set that always contains the whole catalogue. */
export const administratorSetId = 'administrator';

/** A named list of scopes. The built-in set is not stored: stores add it to their results, with `scopes: []`. */
export interface ScopeSet {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly scopes: readonly string[];
  readonly created: number;
  readonly updated: number;
}
