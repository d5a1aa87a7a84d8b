import type { Config } from '../config/sections/schema.ts';
import { assertLoopbackHost, createIsHostOf, createIsNameOf, isLoopbackName } from '../http/host.ts';
import type { RequestHead } from '../http/request-head.ts';

/** Origins of pages that Postern serves or protects: `base_url`, and that of the console if it has one of its own. */
export function ownOrigins({ base_url, web }: Pick<Config, 'base_url' | 'web'>): readonly string[] {
  const console = web?.console?.base_url;
  return console === undefined ? [base_url] : [base_url, console];
}

/**
 * Recognises the host that only the console has, in a Host header; null: there is none. A host that has no service counts
 * at every port, because browsers send its cookies to all of them (RFC 6265 §8.5).
 */
export function consoleHostOf({ base_url: baseUrl, web }: Config): ((host: string) => boolean) | null {
  const origin = web?.console?.base_url;
  if (origin === undefined) return null;
  const isShared = new URL(origin).hostname === new URL(baseUrl).hostname;
  return isShared ? createIsHostOf(origin) : createIsNameOf(origin);
}

/** A guard that refuses a `Host` that isn't this machine's; null: clients may call the listener by any name. */
export function hostGuardOf({
  base_url: baseUrl,
  listen,
}: Pick<Config, 'base_url' | 'listen'>): ((head: RequestHead) => void) | null {
  const isLocal = isLoopbackName(new URL(baseUrl).hostname) && isLoopbackName(listen.host.toLowerCase());
  return isLocal ? assertLoopbackHost : null;
}
