import type { Readable } from 'node:stream';

const newline = 0x0a;
/** The longest line that is kept whole, bytes: an endless line must not exhaust the memory. */
const maxLineBytes = 1024 * 1024;

/**
 * Passes on the output of a process in whole lines, several at a time, so that the lines of two processes never mix. Resolves
 * when the process has closed the stream; an unfinished line is then ended.
 */
export function passLines(from: Readable, write: (lines: string) => void): Promise<void> {
  let pieces: Buffer[] = [];
  let length = 0;
  const pass = (chunk: Buffer, end: number) => {
    write(Buffer.concat([...pieces, chunk.subarray(0, end)]).toString());
    pieces = [];
    length = 0;
  };
  from.on('data', (chunk: Buffer) => {
    const end = chunk.lastIndexOf(newline) + 1;
    if (end > 0) pass(chunk, end);
    const rest = chunk.subarray(end);
    if (rest.length > 0) pieces.push(rest);
    length += rest.length;
    if (length > maxLineBytes) pass(Buffer.from('\n'), 1);
  });
  return new Promise((resolve) => {
    from.once('error', () => from.destroy());
    from.once('close', () => {
      if (length > 0) pass(Buffer.from('\n'), 1);
      resolve();
    });
  });
}
