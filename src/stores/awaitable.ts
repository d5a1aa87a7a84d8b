/** A value, or a promise of it: a store that has the result in this process gives it without waiting. */
export type Awaitable<T> = T | Promise<T>;
