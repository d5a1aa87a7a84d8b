/** Something known; undefined is a value, too. */
export interface Known<T> {
  readonly value: T | undefined;
}

/** What `work` comes to; where that takes longer, what is known then, if anything is. */
export function answerOrKnown<T>(
  work: Promise<T | undefined>,
  milliseconds: number,
  known: () => Known<T> | undefined,
): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    // An answer that is there already counts, also when this process itself was too busy to read it.
    const takeKnown = () =>
      setImmediate(() => {
        const found = known();
        if (found !== undefined) resolve(found.value);
      });
    const timer = setTimeout(takeKnown, milliseconds);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
