import type { Config } from '../config/schema.ts';
import { createIsNameOf } from '../http/host.ts';

/** The host that only the console has. */
export interface ConsoleHost {
  /** `web.console.base_url`. */
  readonly origin: string;
  /** Whether a Host header names it, with any port. */
  readonly isAt: (host: string) => boolean;
}

/** The console's own host; null: it has none. */
export function consoleHostOf({ web }: Pick<Config, 'web'>): ConsoleHost | null {
  const origin = web?.console?.base_url;
  return origin === undefined ? null : { origin, isAt: createIsNameOf(origin) };
}
