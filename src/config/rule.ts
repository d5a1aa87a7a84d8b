import type { Partly } from './good-parts.ts';
import { hasKey, lookUp } from './issues.ts';
import type { Finding, Path } from './problems.ts';
import type { Config } from './schema.ts';

/** A configuration with its defaults; undefined is what is broken, or was left out and has no default. */
export type JudgedConfig = Partly<Config>;

/** What a rule may do and ask beside the configuration itself. */
export interface RuleContext {
  /** Takes down that the rule is broken at a path. */
  report(path: Path, rule: string, at?: Finding['at']): void;
  /** Whether the file has something at a path, be it good or broken. */
  isWritten(path: Path): boolean;
}

/** Judges what spans several keys; reports nothing that merely follows from a key already found broken. */
export type Rule = (config: JudgedConfig, context: RuleContext) => void;

/** What the rules find in a configuration that was `written` like this. */
export function applyRules(rules: readonly Rule[], config: JudgedConfig, written: unknown): Finding[] {
  const findings: Finding[] = [];
  const context: RuleContext = {
    report: (path, rule, at) => void findings.push({ path, rule, at }),
    isWritten: (path) => hasKey(lookUp(written, path.slice(0, -1)), path.at(-1)!),
  };
  for (const rule of rules) rule(config, context);
  return findings;
}
