import { Resolver } from 'node:dns/promises';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { NameError } from './name-error.ts';

/** Asks the name servers for the addresses of a full name in one family; rejects with an error whose `code` is one of c-ares'. */
export type QueryFamily = (name: string, family: 4 | 6) => Promise<readonly string[]>;

/** Maximum time, ms, to wait for one family after the other has found addresses (RFC 8305 §3 recommends 50). */
const resolutionDelayMs = 100;
/** Timeout, ms, which c-ares doubles with each round, and attempts per server. Node checks for timeouts at this interval. */
const attempts = { timeout: 800, tries: 3 };
/** Codes for a name that doesn't exist, has no address in the family, or is not valid. */
const absent: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

interface Reply {
  readonly addresses: readonly string[];
  /** Empty if there are addresses. */
  readonly code: string;
}

/**
 * Finds the addresses of the first of these names that has any. Rejects with a {@link NameError}. A name for which the servers
 * fail (SERVFAIL) is passed over, as in res_search(3); if no server responds, no further name is asked for.
 */
export async function queryInTurn(
  host: string,
  names: readonly string[],
  query: QueryFamily,
): Promise<readonly string[]> {
  let failure: string | undefined;
  for (const name of names) {
    const { addresses, code } = await queryBoth(name, query);
    if (addresses.length > 0) return addresses;
    if (absent.has(code)) continue;
    failure ??= code;
    if (code !== 'ESERVFAIL') break;
  }
  throw failure === undefined ? new NameError('ENOTFOUND', host) : new NameError('EAI_AGAIN', host, failure);
}

/**
 * Creates a query to these name servers, by default those of resolv.conf. If a server is silent, refuses connections or sends
 * garbage, c-ares asks the next; if a server responds SERVFAIL, REFUSED or NOTIMP, the next is asked here, as res_send(3) does.
 */
export function queryServers(given?: readonly string[]): QueryFamily {
  return async (name, family) => {
    // Each query has its own channel: on a shared one, a malformed response fails every pending query.
    const channel = new Resolver(attempts);
    if (given !== undefined) channel.setServers(given);
    const servers = channel.getServers();
    for (let i = 1; ; i++)
      try {
        return await (family === 4 ? channel.resolve4(name) : channel.resolve6(name));
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        const isNextAsked = code === 'ESERVFAIL' || code === 'EREFUSED' || code === 'ENOTIMP';
        if (!isNextAsked || i >= servers.length) throw error;
        channel.setServers(servers.slice(i));
      }
  };
}

/**
 * Asks for both families at once, and lists IPv6 addresses first (RFC 6724 §2.1). Once one family has addresses, the reply of the
 * other is awaited for a short time only.
 */
async function queryBoth(name: string, query: QueryFamily): Promise<Reply> {
  const asked = [queryOne(name, 6, query), queryOne(name, 4, query)] as const;
  const all = Promise.all(asked);
  const first = await Promise.race(asked);
  const replies = first.addresses.length === 0 ? await all : await Promise.race([all, delayed([first])]);
  const failed = replies.find(({ code }) => code !== '' && !absent.has(code));
  return {
    addresses: replies.flatMap(({ addresses }) => addresses),
    code: (failed ?? replies[0]!).code,
  };
}

/** Waits for {@link resolutionDelayMs}; responses that arrived while this process was busy still count as in time. */
async function delayed(replies: readonly Reply[]): Promise<readonly Reply[]> {
  await sleep(resolutionDelayMs, undefined, { ref: false });
  return turn(replies);
}

async function queryOne(name: string, family: 4 | 6, query: QueryFamily): Promise<Reply> {
  try {
    const addresses = await query(name, family);
    return { addresses, code: addresses.length > 0 ? '' : 'ENODATA' };
  } catch (error) {
    return { addresses: [], code: String((error as NodeJS.ErrnoException).code) };
  }
}
