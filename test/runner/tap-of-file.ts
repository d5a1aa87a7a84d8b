import type { Test } from 'tap';

// What a test file gets for `tap` while it shares a process with others (see process.ts): the test of that file, so that
// its hooks, its timeout and its teardowns end with it.

let current: Test | undefined;

/** From now on, what is imported from `tap` is this test. */
export function setTestOfFile(test: Test): void {
  current = test;
}

// biome-ignore lint/style/noDefaultExport: tap has one
export default new Proxy({} as Test, {
  get(_, name) {
    if (current === undefined) throw new Error('no test file is being run');
    const value = Reflect.get(current, name, current);
    return typeof value === 'function' ? value.bind(current) : value;
  },
});
