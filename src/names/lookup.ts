import type { LookupAddress, LookupOptions } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { NameError } from './name-error.ts';
import type { Names } from './names.ts';

/**
 * Creates a `lookup`, as `node:net` defines it, for connections that libraries open. It fails with a {@link NameError} after
 * `timeoutMs`, which should be shorter than the connection's timeout: then the connection fails with the reason.
 */
export function createLookup(names: Pick<Names, 'find'>, timeoutMs: number): LookupFunction {
  /** Number of lookups by name, for rotating addresses: one that never connects must not always be the first. */
  const turns = new Map<string, number>();

  return (host, options, callback) => {
    let withdraw = () => {};
    const timer = setTimeout(() => {
      withdraw();
      callback(new NameError('EAI_AGAIN', host, 'no response'), []);
    }, timeoutMs);
    withdraw = names.find(host, (error, found) => {
      clearTimeout(timer);
      const addresses = asked(found, options);
      // Some callers attach their listeners only after the call.
      process.nextTick(() => {
        const [first] = addresses;
        if (first === undefined) callback(error ?? new NameError('ENOTFOUND', host), []);
        else if (options.all === true) callback(null, [...rotated(host, addresses)]);
        else callback(null, first.address, first.family);
      });
    });
  };

  function rotated(host: string, addresses: readonly LookupAddress[]): readonly LookupAddress[] {
    const turn = (turns.get(host) ?? -1) + 1;
    turns.set(host, turn);
    const at = turn % addresses.length;
    return [...addresses.slice(at), ...addresses.slice(0, at)];
  }
}

function asked(found: readonly string[], { family = 0 }: LookupOptions): LookupAddress[] {
  const wanted = typeof family === 'number' ? family : Number(family.slice(3));
  const addresses = found.map((address) => ({ address, family: isIP(address) }));
  return wanted === 0 ? addresses : addresses.filter((each) => each.family === wanted);
}
