/** The context of the console's parts. */

import { createContext } from 'preact';

/**
 * @typedef {{
 *   readonly api: import('./api.js').Api,
 *   readonly root: string,
 *   readonly area: string,
 *   readonly origin: string,
 *   readonly title: string,
 *   readonly username: string,
 *   readonly hasPassword: boolean,
 *   readonly minPasswordLength: number,
 *   readonly maxKeyLifetimeMs: number | null,
 *   readonly served: ReadonlySet<string>,
 *   readonly providers: ReadonlyMap<string, string>,
 *   may(...scopes: string[]): boolean,
 * }} ConsoleContext
 */

/** The context that all parts of the console share; its value is set before anything is shown. */
export const Console = createContext(/** @type {ConsoleContext} */ (/** @type {unknown} */ (null)));
