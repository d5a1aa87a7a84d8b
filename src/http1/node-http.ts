/*
 * What is used of `node:http`. An import of it would read every one of its properties, and one of those getters loads undici:
 * 50 ms of CPU at each start.
 */
export const { METHODS, STATUS_CODES, createServer } = process.getBuiltinModule('node:http');
