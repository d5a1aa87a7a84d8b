/** A value of the Redis protocol; texts as UTF-8, maps as flat lists, true and false as 1 and 0. */
export type Reply = string | number | null | ReplyError | readonly Reply[];

/** An error reply; the message starts with its code, without the `-`. */
export class ReplyError extends Error {}

/** One whole command or reply. */
export interface Frame {
  /** As received. */
  readonly bytes: Buffer;
  /** Its first character: `*` a list, `>` a push, `-` an error, … */
  readonly type: string;
  readonly value: Reply;
}

interface Read {
  readonly value: Reply;
  readonly end: number;
}

/**
 * A reader of RESP2 and RESP3: it takes bytes as they arrive and gives the frames they complete. Throws on anything
 * else.
 */
export function createFrameReader(): (chunk: Buffer) => Frame[] {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const frames: Frame[] = [];
    for (let read = readAt(rest, 0); read !== undefined; read = readAt(rest, 0)) {
      frames.push({
        bytes: rest.subarray(0, read.end),
        type: rest.toString('latin1', 0, 1),
        value: read.value,
      });
      rest = rest.subarray(read.end);
    }
    return frames;
  };
}

/** A command as bytes. */
export function encodeCommand(args: readonly (string | number | Buffer)[]): Buffer {
  const parts = args.flatMap((arg) => {
    const bytes = Buffer.isBuffer(arg) ? arg : Buffer.from(String(arg));
    return [Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from('\r\n')];
  });
  return Buffer.concat([Buffer.from(`*${args.length}\r\n`), ...parts]);
}

/** The value that starts there; undefined when it is incomplete. */
function readAt(buffer: Buffer, start: number): Read | undefined {
  const lineEnd = buffer.indexOf('\r\n', start);
  if (lineEnd < 0) return undefined;
  const type = buffer.toString('latin1', start, start + 1);
  const line = buffer.toString('utf8', start + 1, lineEnd);
  const end = lineEnd + 2;
  switch (type) {
    case '+':
    case '(':
      return { value: line, end };
    case '-':
      return { value: new ReplyError(line), end };
    case ':':
    case ',':
      return { value: Number(line), end };
    case '#':
      return { value: line === 't' ? 1 : 0, end };
    case '_':
      return { value: null, end };
    case '$':
    case '!':
    case '=':
      return readBulk(buffer, end, type, Number(line));
    case '*':
    case '~':
    case '>':
      return readList(buffer, end, Number(line));
    case '%':
      return readList(buffer, end, 2 * Number(line));
    default:
      throw new Error(`not RESP: ${JSON.stringify(type + line)}`);
  }
}

function readBulk(buffer: Buffer, start: number, type: string, length: number): Read | undefined {
  if (length < 0) return { value: null, end: start };
  const end = start + length + 2;
  if (buffer.length < end) return undefined;
  const text = buffer.toString('utf8', start, start + length);
  if (type === '!') return { value: new ReplyError(text), end };
  // A verbatim text is preceded by its format: `txt:`.
  return { value: type === '=' ? text.slice(4) : text, end };
}

function readList(buffer: Buffer, start: number, length: number): Read | undefined {
  if (length < 0) return { value: null, end: start };
  const values: Reply[] = [];
  let end = start;
  while (values.length < length) {
    const read = readAt(buffer, end);
    if (read === undefined) return undefined;
    values.push(read.value);
    end = read.end;
  }
  return { value: values, end };
}
