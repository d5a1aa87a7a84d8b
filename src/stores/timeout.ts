/** Something known; undefined is a value, too. */
export interface Known<T> {
  readonly value: T | undefined;
}

/** For the log: why something counts as away. */
export const notInTime = 'it did not answer in time';

/** What `work` comes to; rejects what `timeoutError` makes where that takes longer. */
export function within<T>(
  milliseconds: number,
  work: Promise<T>,
  timeoutError: () => Error = () => new Error(notInTime),
): Promise<T> {
  return settledOr(work, milliseconds, (_, reject) => reject(timeoutError()));
}

/** What `work` comes to; where that takes longer, what is known then, if anything is. */
export function resultOrKnown<T>(
  work: Promise<T | undefined>,
  milliseconds: number,
  known: () => Known<T> | undefined,
): Promise<T | undefined> {
  return settledOr(work, milliseconds, (resolve) => {
    const found = known();
    if (found !== undefined) resolve(found.value);
  });
}

function settledOr<T>(
  work: Promise<T>,
  milliseconds: number,
  onTimeout: (resolve: (value: T) => void, reject: (reason: Error) => void) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    // A response that is there already counts, also when this process itself was too busy to read it.
    const timer = setTimeout(() => setImmediate(() => isOver || onTimeout(resolve, reject)), milliseconds);
    work.then(resolve, reject).finally(() => {
      isOver = true;
      clearTimeout(timer);
    });
  });
}
