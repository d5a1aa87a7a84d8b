import type { Exchange } from '../http/exchange.ts';
import { areaOf } from '../rules/own-areas.ts';

/** Location of the console, and its required provider. */
export interface ConsoleLocation {
  /** `<path>/console`, without a slash at its end. */
  readonly path: string;
  /** URL at which people open it. */
  readonly url: string;
  /** True if a host serves the console: only the console's own host, if it has one. */
  readonly isServedAt: (host: string) => boolean;
  /** The only provider whose sign-ins lead to the console; null: all do. */
  readonly requiredProvider: string | null;
}

/** The console, if `location` (one of Postern's paths, with query) leads to it from the request's host; null otherwise. */
export function consoleAt(
  console: ConsoleLocation | null,
  { host }: Pick<Exchange, 'host'>,
  location: string,
): ConsoleLocation | null {
  if (console === null || !console.isServedAt(host)) return null;
  const path = location.split(/[?#]/, 1)[0]!;
  return areaOf(path, [console.path]) === undefined ? null : console;
}

/** True if a sign-in by `method` (`password`, or a provider's name) leads to the console. */
export function admits({ requiredProvider }: ConsoleLocation, method: string): boolean {
  return requiredProvider === null || requiredProvider === method;
}
