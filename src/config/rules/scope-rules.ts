import { suggestion } from '../../rules/nearest-name.ts';
import type { Path } from '../report/problems.ts';
import { catalogueOf } from '../values/scope-names.ts';
import type { JudgedConfig, Rule } from './rule.ts';

type Mention = readonly [path: Path, scope: string];
type Scopes = readonly (string | undefined)[];

function mentionsOfList(scopes: Scopes | undefined, path: Path): Mention[] {
  return (scopes ?? []).flatMap((scope, index) => (scope === undefined ? [] : [[[...path, index], scope]]));
}

function* mentionsOfRoutes({ routes = [] }: JudgedConfig): Generator<Mention> {
  for (const [index, route] of routes.entries()) {
    const path = ['routes', index, 'scopes'];
    if (Array.isArray(route?.scopes)) yield* mentionsOfList(route.scopes, path);
    else
      for (const [method, scopes] of Object.entries(route?.scopes ?? {}))
        yield* mentionsOfList(scopes as Scopes | undefined, [...path, method]);
  }
}

function* mentionsOfGrants({ identity_providers = {} }: JudgedConfig): Generator<Mention> {
  for (const [name, provider] of Object.entries(identity_providers))
    for (const [index, grant] of (provider?.grants ?? []).entries())
      yield* mentionsOfList(grant?.scopes, ['identity_providers', name, 'grants', index, 'scopes']);
}

function* mentionsOf(config: JudgedConfig): Generator<Mention> {
  yield* mentionsOfRoutes(config);
  yield* mentionsOfGrants(config);
  for (const section of ['scope_sets', 'users'] as const)
    for (const [name, holder] of Object.entries(config[section] ?? {}))
      yield* mentionsOfList(holder?.scopes, [section, name, 'scopes']);
}

const scopesAreInCatalogue: Rule = (config, { report }) => {
  if (config.scopes === undefined) return;
  const catalogue = new Set(catalogueOf({ scopes: config.scopes }));
  for (const [path, scope] of mentionsOf(config))
    if (!catalogue.has(scope))
      report(path, `must be a scope in the catalogue${suggestion(scope, [...catalogue])}`);
};

/** Every scope that a route requires, or that a grant, user or scope set of the configuration gives. */
export function scopesMentioned(config: JudgedConfig): string[] {
  return [...mentionsOf(config)].map(([, scope]) => scope);
}

const grantsGiveSomething: Rule = ({ identity_providers = {} }, { report }) => {
  for (const [name, provider] of Object.entries(identity_providers))
    for (const [index, grant] of (provider?.grants ?? []).entries())
      if (grant?.scopes?.length === 0 && grant.scope_sets?.length === 0)
        report(['identity_providers', name, 'grants', index], 'must have scope_sets or scopes');
};

/** Rules for the scopes that routes require, and that grants, users and scope sets give. */
export const scopeRules: readonly Rule[] = [scopesAreInCatalogue, grantsGiveSomething];
