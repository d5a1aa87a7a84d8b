/** Reason that is logged when a store counts as unavailable because it doesn't respond. */
export const timedOutReason = 'timed out';

/** The result of `work`; rejects with the error that `timeoutError` creates when `work` takes longer. */
export function within<T>(
  milliseconds: number,
  work: Promise<T>,
  timeoutError: () => Error = () => new Error(timedOutReason),
): Promise<T> {
  return settledOr(work, milliseconds, (_, reject) => reject(timeoutError()));
}

/** The result of `work`; once it takes longer, the result of `fallback` instead, unless that is undefined. */
export function resultOrFallback<T>(
  work: Promise<T | undefined>,
  milliseconds: number,
  fallback: () => T | undefined,
): Promise<T | undefined> {
  return settledOr(work, milliseconds, (resolve) => {
    const found = fallback();
    if (found !== undefined) resolve(found);
  });
}

function settledOr<T>(
  work: Promise<T>,
  milliseconds: number,
  onTimeout: (resolve: (value: T) => void, reject: (reason: Error) => void) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let isSettled = false;
    // A response that has already arrived counts, even if this process was too busy to read it.
    const timer = setTimeout(() => setImmediate(() => isSettled || onTimeout(resolve, reject)), milliseconds);
    work.then(resolve, reject).finally(() => {
      isSettled = true;
      clearTimeout(timer);
    });
  });
}
