import { join, resolve } from 'node:path';

/** The program that tests start as a process: that of the sources, or another, such as what `npm run build` makes. */
export const mainFile = resolve(
  process.env.POSTERN_TEST_PROGRAM ?? join(import.meta.dirname, '../../../src/main.ts'),
);
