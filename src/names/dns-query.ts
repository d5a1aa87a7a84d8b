import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { NameError } from './name-error.ts';
import { absent } from './name-servers.ts';

/** Asks the name servers for the addresses of a full name in one family; rejects with one of c-ares' codes. */
export type QueryFamily = (name: string, family: 4 | 6) => Promise<readonly string[]>;

/** How much longer than the first family the other may take, ms (RFC 8305 §3 gives 50 as enough). */
const resolutionDelayMs = 100;

interface Reply {
  readonly addresses: readonly string[];
  /** Empty if there are addresses. */
  readonly code: string;
}

/**
 * The addresses of the first of these names that has any. Rejects with a {@link NameError}. A name that a server failed
 * to find is passed over, as in res_search(3); when no server responds, there is no point in asking for the next.
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

/** Both families, IPv6 first (RFC 6724 §2.1); one whose servers never respond doesn't hold up the other. */
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

/** What has arrived while this process was busy counts as in time. */
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
