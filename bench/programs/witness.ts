/** Asked of an upstream itself, it tells the head of the last request that came through a proxy. */
export const witnessTarget = '/witness';

/** Remembers the last request. */
export interface Witness {
  /** The response to a request for the witness itself; undefined for any other, which is remembered. */
  see(head: string): string | undefined;
}

/** Starts with having seen nothing. */
export function createWitness(): Witness {
  let last = '';
  return {
    see(head) {
      if (!head.startsWith(`GET ${witnessTarget} `)) {
        last = head;
        return undefined;
      }
      return `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${last.length}\r\n\r\n${last}`;
    },
  };
}
