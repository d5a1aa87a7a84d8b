import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** What `openssl s_client` said of one connection. */
export interface ClientReport {
  readonly text: string;
  /** The suite agreed upon; undefined if the handshake failed. */
  readonly suite: string | undefined;
}

const request = 'GET /api/open/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

/** Connects with these options and sends what `input` says: by default a request, until whose response it stays. */
export async function askByOpenssl(
  port: number,
  options: readonly string[],
  input: string = request,
): Promise<ClientReport> {
  const waits = input === request ? ['-ign_eof'] : [];
  const client = spawn('openssl', ['s_client', '-connect', `127.0.0.1:${port}`, ...waits, ...options]);
  client.stdin.on('error', () => {});
  client.stdin.end(input);
  const closed = once(client, 'close');
  const parts = await Promise.all([text(client.stdout), text(client.stderr)]);
  await closed;
  const said = parts.join('\n');
  const suite = /Cipher is (?!\(NONE\))(\S+)/.exec(said)?.[1];
  return { text: said, suite };
}
