import type { Config } from '../config/sections/schema.ts';
import { HostCodes } from '../credentials/host-code.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { EndpointParts } from '../endpoints/endpoint-parts.ts';
import { createHostPages } from '../web/endpoints/hosts.ts';
import { HostEntries } from '../web/host-entries.ts';
import { HostSessions } from '../web/host-sessions.ts';
import { HostStarts } from '../web/host-starts.ts';
import type { SharedParts } from './endpoint-parts.ts';
import { signInSecret } from './sign-in-secret.ts';

/** The way of browsers to the entries of `hosts`. */
export interface HostPages {
  readonly entries: HostEntries;
  readonly sessions: HostSessions;
  readonly endpoints: readonly Endpoint<'open'>[];
}

/** Builds the pages by which browsers enter named hosts. Rejects with `store_unavailable`. */
export async function composeHostPages(
  { base_url: baseUrl }: Config,
  parts: EndpointParts,
  { stores }: SharedParts,
  { area, isAlive }: NonNullable<SharedParts['web']>,
): Promise<HostPages> {
  const { records, sessions: store, times, now } = parts;
  const codes = new HostCodes(await signInSecret(records));
  const { singleUse } = stores;
  const entries = new HostEntries({ area, codes, singleUse, sessions: store, isAlive, now });
  const starts = new HostStarts(area.hostCookie);
  const { absoluteLifetimeMs } = times;
  const sessions = new HostSessions({ area, starts, ending: parts, absoluteLifetimeMs, now });
  const endpoints = createHostPages({ area, starts, entries, sessions, baseUrl });
  return { entries, sessions, endpoints };
}
