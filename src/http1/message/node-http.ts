/*
 * The used part of `node:http`. An import of it would read every one of its properties, and one of those getters loads undici:
 * 50 ms of CPU at each start.
 */
const { METHODS, STATUS_CODES, createServer } = process.getBuiltinModule('node:http');

export { createServer, STATUS_CODES };

/** The methods that a request may have; any other is 501. */
export const knownMethods: ReadonlySet<string> = new Set(METHODS);
