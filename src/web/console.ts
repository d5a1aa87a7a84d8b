import type { Exchange } from '../http/exchange.ts';
import { areaOf } from '../rules/own-areas.ts';

/** Where the console is, and who may go there. */
export interface ConsolePlace {
  /** `<path>/console`: no slash at its end. */
  readonly path: string;
  /** Its address for people. */
  readonly url: string;
  /** True if a host serves it: its own, if it has one. */
  readonly isServedAt: (host: string) => boolean;
  /** The only provider whose sign-ins lead there; null: all do. */
  readonly requiredProvider: string | null;
}

/** The console, if `location` (a path of ours, with query) leads there from the host of the request; null otherwise. */
export function consoleAt(
  console: ConsolePlace | null,
  { head }: Pick<Exchange, 'head'>,
  location: string,
): ConsolePlace | null {
  if (console === null || !console.isServedAt(head.host)) return null;
  const path = location.split(/[?#]/, 1)[0]!;
  return areaOf(path, [console.path]) === undefined ? null : console;
}

/** True if a sign-in of that method (`password`, or a provider's name) leads there. */
export function admits({ requiredProvider }: ConsolePlace, method: string): boolean {
  return requiredProvider === null || requiredProvider === method;
}
