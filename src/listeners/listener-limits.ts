import type { Config } from '../config/sections/schema.ts';
import type { ListenerSettings } from './http-listener.ts';

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;
type EngineName<Name extends string> = Name extends `${infer Timeout}_timeout`
  ? `${CamelCase<Timeout>}TimeoutMs`
  : CamelCase<Name>;
type EngineLimits = { readonly [Name in keyof Config['limits'] as EngineName<Name>]: number };

/** The time after which a body's rate counts, ms: an average says nothing of the first seconds. */
const bodyJudgedAfterMs = 30_000;

/** The limits of a listener by the names that the engine has for them: `header_timeout` is `headerTimeoutMs`. */
export function listenerLimits(limits: Config['limits']): ListenerSettings['limits'] {
  const byEngineName = Object.entries(limits).map(([name, limit]) => [engineName(name), limit]);
  return { ...(Object.fromEntries(byEngineName) as EngineLimits), bodyJudgedAfterMs };
}

function engineName(name: string): string {
  const camelCase = name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return camelCase.replace(/Timeout$/, 'TimeoutMs');
}
