/** Any function of a store. */
export type Call = (...args: unknown[]) => unknown;

/** A copy of a store, which has to be a plain object, with `wrap` around each of its functions. */
export function wrapCalls<S extends object>(store: S, wrap: (call: Call, name: keyof S & string) => Call): S {
  const copy = { ...store };
  for (const name of Object.keys(store) as (keyof S & string)[])
    copy[name] = wrap(store[name] as Call, name) as S[keyof S & string];
  return copy;
}
