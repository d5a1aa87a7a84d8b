/** A value, or a promise of it: a store that has the result in this process returns it without a promise. */
export type Awaitable<T> = T | Promise<T>;
