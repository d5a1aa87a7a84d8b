/** A value, or a promise of it: a store whose response is already in this process gives it without a wait. */
export type Awaitable<T> = T | Promise<T>;
