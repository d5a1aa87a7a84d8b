import type { Partly } from '../report/good-parts.ts';
import { hasKey, lookUp } from '../report/issues.ts';
import type { Finding, Path } from '../report/problems.ts';
import type { Config } from '../sections/schema.ts';

/** A configuration with its defaults; broken parts, and omitted ones without a default, are undefined. */
export type JudgedConfig = Partly<Config>;

/** The functions available to a rule besides the configuration. */
export interface RuleContext {
  report(path: Path, rule: string, at?: Finding['at']): void;
  /** True if the file has a value at a path, valid or not. */
  isWritten(path: Path): boolean;
}

/** A check that spans several keys; it reports nothing that merely follows from a key already found broken. */
export type Rule = (config: JudgedConfig, context: RuleContext) => void;

/** The host of a route: its own, or empty for every host that no entry of `hosts` names; undefined if the key is broken. */
export function hostOfRoute(
  { routes = [] }: JudgedConfig,
  index: number,
  { isWritten }: Pick<RuleContext, 'isWritten'>,
): string | undefined {
  return routes[index]?.host ?? (isWritten(['routes', index, 'host']) ? undefined : '');
}

/** Every entry of `identity_headers`, with its path; `value` is a map even if the file has the fact alone. */
export function* identityHeaders({ upstreams = {} }: JudgedConfig) {
  for (const [upstream, settings] of Object.entries(upstreams))
    for (const [name, written] of Object.entries(settings?.identity_headers ?? {})) {
      const value = typeof written === 'object' ? written : { from: written };
      yield { path: ['upstreams', upstream, 'identity_headers', name], upstream, name, value };
    }
}

/** Every name in `headers` of an upstream, with its path. */
export function* fixedHeaders({ upstreams = {} }: JudgedConfig) {
  for (const [upstream, settings] of Object.entries(upstreams))
    for (const name of Object.keys(settings?.headers ?? {}))
      yield { path: ['upstreams', upstream, 'headers', name], upstream, name };
}

/** Applies rules to a configuration; `written` is its source, for {@link RuleContext.isWritten}. */
export function applyRules(rules: readonly Rule[], config: JudgedConfig, written: unknown): Finding[] {
  const findings: Finding[] = [];
  const context: RuleContext = {
    report: (path, rule, at) => void findings.push({ path, rule, at }),
    isWritten: (path) => hasKey(lookUp(written, path.slice(0, -1)), path.at(-1)!),
  };
  for (const rule of rules) rule(config, context);
  return findings;
}
