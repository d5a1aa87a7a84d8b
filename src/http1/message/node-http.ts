/*
 * The part of `node:http` that is used. An `import` would read every property of the module, and the getter of one property loads
 * undici, which takes 50 ms of CPU at each start.
 */
const { METHODS, STATUS_CODES, createServer } = process.getBuiltinModule('node:http');

export { createServer, STATUS_CODES };

/** The methods that a request may have; any other is refused with 501. */
export const knownMethods: ReadonlySet<string> = new Set(METHODS);
