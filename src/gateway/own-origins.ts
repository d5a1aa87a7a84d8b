import type { Config } from '../config/sections/schema.ts';
import { assertLoopbackHost, createIsHostOf, createIsNameOf, isLoopbackName } from '../http/host.ts';
import type { RequestHead } from '../http/request-head.ts';

/** Origins of pages that Postern serves or protects: `base_url`, and the console's own origin if it has one. */
export function ownOrigins({
  base_url,
  web,
}: Pick<Config, 'base_url' | 'web'>): readonly [string, ...string[]] {
  const console = web?.console?.base_url;
  return console === undefined ? [base_url] : [base_url, console];
}

/**
 * Creates the test for the console's own host in a Host header; null: the console has none. Unless `base_url` has the same host
 * name, every port counts, because browsers send a host's cookies to all its ports (RFC 6265 §8.5).
 */
export function consoleHostOf({ base_url: baseUrl, web }: Config): ((host: string) => boolean) | null {
  const origin = web?.console?.base_url;
  if (origin === undefined) return null;
  const isShared = new URL(origin).hostname === new URL(baseUrl).hostname;
  return isShared ? createIsHostOf(origin) : createIsNameOf(origin);
}

/** A guard that refuses a `Host` that doesn't name this machine; null: clients may call the listener by any name. */
export function hostGuardOf({
  base_url: baseUrl,
  listen,
}: Pick<Config, 'base_url' | 'listen'>): ((head: RequestHead) => void) | null {
  const isLocal = isLoopbackName(new URL(baseUrl).hostname) && isLoopbackName(listen.host.toLowerCase());
  return isLocal ? assertLoopbackHost : null;
}
