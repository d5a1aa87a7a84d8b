import { administratorSetId, type ScopeSet } from './scope-set.ts';

/** The built-in scope set, which no store keeps: whoever holds it holds the whole catalogue. */
export const administratorSet: ScopeSet = Object.freeze({
  id: administratorSetId,
  name: administratorSetId,
  description: 'Everything in the catalogue',
  scopes: Object.freeze([]),
  created: 0,
  updated: 0,
});
