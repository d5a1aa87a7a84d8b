import { connect } from 'node:net';
import { createFrameReader, encodeCommand, type Reply, ReplyError } from './resp.ts';

/** The user with which the tests themselves connect to Redis, whatever a test configures for the others. */
export const harnessUser = 'harness';

/** Longer than any command of a test takes; a paused Redis never responds. */
const longestMs = 5_000;

/**
 * Runs one command on a connection of its own to that socket path. Rejects with a {@link ReplyError} for an error
 * reply.
 */
export function runRedisCommand(path: string, args: readonly (string | number | Buffer)[]): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    const read = createFrameReader();
    const replies: Reply[] = [];
    const settle = (reply: Reply) => (reply instanceof ReplyError ? reject(reply) : resolve(reply));
    socket.setTimeout(longestMs, () => socket.destroy(new Error(`no reply to ${args[0]}`)));
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`closed before the reply to ${args[0]}`)));
    socket.on('data', (chunk: Buffer) => {
      replies.push(...read(chunk).map(({ value }) => value));
      const failed = replies[0] instanceof ReplyError;
      if (replies.length < 2 && !failed) return;
      settle(replies[failed ? 0 : 1]!);
      socket.destroy();
    });
    socket.write(Buffer.concat([encodeCommand(['AUTH', harnessUser, 'any']), encodeCommand(args)]));
  });
}
