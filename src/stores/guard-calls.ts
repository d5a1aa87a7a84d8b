/**
 * A copy of a store made of closures, whose calls reject with what `assertAllowed` throws; those named in `except` are
 * never asked about.
 */
export function guardCalls<S extends object>(
  store: S,
  except: ReadonlySet<keyof S>,
  assertAllowed: () => void,
): S {
  const copy = { ...store };
  for (const name of Object.keys(store) as (keyof S)[]) {
    if (except.has(name)) continue;
    const call = store[name] as (...given: unknown[]) => unknown;
    const guarded = async (...given: unknown[]) => {
      assertAllowed();
      return call(...given);
    };
    copy[name] = guarded as S[keyof S];
  }
  return copy;
}
