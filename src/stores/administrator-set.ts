import { administratorSetId, type ScopeSet } from './scope-set.ts';
import type { ScopeSetRecord } from './scope-set-records.ts';

/** The built-in scope set, which is not stored: its holder has every scope of the catalogue. */
export const administratorSet: ScopeSet = Object.freeze({
  id: administratorSetId,
  name: administratorSetId,
  description: 'Everything in the catalogue',
  scopes: Object.freeze([]),
  created: 0,
  updated: 0,
});

/** The built-in scope set as an administered record; it never changes. */
export const administratorRecord: ScopeSetRecord = Object.freeze({
  ...administratorSet,
  managed: false,
  version: 1,
});
