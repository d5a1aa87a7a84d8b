import { type RespValue, readResp, UnexpectedReply } from './resp.ts';

type Validator = (reply: RespValue) => boolean;

const slots = 16_384;
/** Redirections, which the driver follows without checking their syntax. */
const redirection = /^(?:MOVED|ASK) /;
const validRedirection = /^(?:MOVED|ASK) (\d{1,5}) \S*:\d{1,5}$/;

/**
 * Shapes of replies, by command: of those that the driver processes itself, and of those that it passes unchanged to the code
 * that parses them. After a reply of the wrong type, the next ones may not belong to the commands that they seem to answer.
 */
const validators: Readonly<Record<string, Validator>> = {
  subscribe: (reply) => isNotification(reply, 'subscribe') && itemsOf(reply)[2]?.code === ':',
  info: (reply) => textOf(reply) !== null,
  time: isListOfTexts,
  eval: isScriptReply,
  evalsha: isScriptReply,
  hgetall: isListOfTexts,
  zrange: isListOfTexts,
  hmget: (reply) => reply.code === '*' && itemsOf(reply).every(({ code }) => code === '$'),
  exists: isInteger,
  zcard: isInteger,
  zrem: isInteger,
  'cluster slots': (reply) => itemsOf(reply).length > 0 && itemsOf(reply).every(isSlotRange),
  'sentinel get-master-addr-by-name': (reply) =>
    reply.code === '*' && (reply.items === null || isLocation(reply)),
  'sentinel sentinels': (reply) => reply.code === '*' && itemsOf(reply).every(isListOfTexts),
};

/**
 * Creates a check of one connection, so that the driver receives only what it can process: errors, and replies of the right shape
 * for their commands. A reply without a command, of another protocol than RESP2, too large or nested too deeply makes the driver
 * throw where nothing can catch the error, or loop forever.
 */
export function createReplyCheck() {
  const pending: string[] = [];
  const outgoing = createSplitter((command) => pending.push(nameOf(command)));
  const incoming = createSplitter(check);
  let isSubscriber = false;

  function check(reply: RespValue): void {
    if (isSubscriber && isNotification(reply, 'message') && isListOfTexts(reply)) return;
    const name = pending.shift();
    if (name === undefined) throw new UnexpectedReply('no command is pending');
    if (reply.code === '-') {
      requireRedirection(reply.text ?? '');
      return;
    }
    const isValid = validators[name]?.(reply) ?? (!isSubscriber || isNotification(reply, 'pong'));
    if (!isValid) throw new UnexpectedReply(`wrong type for ${name.toUpperCase()}`);
    isSubscriber ||= name === 'subscribe';
  }

  return {
    /** Notes the commands in the bytes sent. */
    sent: (bytes: Buffer) => void outgoing(bytes),
    /** Takes the bytes received, and returns those of the replies now complete. Throws {@link UnexpectedReply}. */
    received: incoming,
  };
}

/** Creates a function that takes bytes, calls `onValue` with every value now complete, and returns the bytes of these. */
function createSplitter(onValue: (value: RespValue) => void): (bytes: Buffer) => Buffer {
  let parts: Buffer[] = [];
  let length = 0;
  let needed = 1;
  return (bytes) => {
    parts.push(bytes);
    length += bytes.length;
    if (length < needed) return Buffer.alloc(0);
    const all = parts.length === 1 ? bytes : Buffer.concat(parts, length);
    let end = 0;
    needed = 1;
    while (end < all.length) {
      const read = readResp(all, end);
      if (read.value === undefined) {
        needed = read.needed - end;
        break;
      }
      onValue(read.value);
      end = read.end;
    }
    parts = end === all.length ? [] : [all.subarray(end)];
    length = all.length - end;
    return all.subarray(0, end);
  };
}

/** Name of a command in lower case, with the subcommand where there is one. */
function nameOf(command: RespValue): string {
  const [name = '', second = ''] = itemsOf(command).map((item) => textOf(item)?.toLowerCase() ?? '');
  return name === 'cluster' || name === 'sentinel' ? `${name} ${second}` : name;
}

function requireRedirection(text: string): void {
  if (!redirection.test(text)) return;
  const slot = validRedirection.exec(text)?.[1];
  if (slot === undefined || Number(slot) >= slots) throw new UnexpectedReply('invalid redirection');
}

function isNotification(reply: RespValue, kind: string): boolean {
  const items = itemsOf(reply);
  return items.length >= 2 && textOf(items[0]!) === kind && textOf(items[1]!) !== null;
}

function isListOfTexts(reply: RespValue): boolean {
  return reply.code === '*' && reply.items !== null && reply.items.every((item) => textOf(item) !== null);
}

/** True for a list that begins as those of all our scripts do, with the outcome and the time. */
function isScriptReply(reply: RespValue): boolean {
  const [outcome, time] = itemsOf(reply);
  return outcome !== undefined && textOf(outcome) !== null && time?.code === ':';
}

function isInteger({ code }: RespValue): boolean {
  return code === ':';
}

function isSlotRange(range: RespValue): boolean {
  const [from, to, ...nodes] = itemsOf(range);
  const isRange = from?.code === ':' && to?.code === ':' && 0 <= from.number && from.number <= to.number;
  return isRange && to.number < slots && nodes.length > 0 && nodes.every(isNode);
}

function isNode(node: RespValue): boolean {
  const [host, port] = itemsOf(node);
  // The driver skips a node without a host, which may be unknown.
  if (host === undefined || (host.code !== '$' && host.code !== '+')) return false;
  return port?.code === ':' && 0 < port.number && port.number < 65_536;
}

/** True for a host and a valid port: the driver leaks a socket for every invalid one. */
function isLocation(reply: RespValue): boolean {
  const [host, port] = itemsOf(reply).map(textOf);
  return !!host && /^\d{1,5}$/.test(port ?? '') && 0 < Number(port) && Number(port) < 65_536;
}

function itemsOf(reply: RespValue): readonly RespValue[] {
  return reply.code === '*' ? (reply.items ?? []) : [];
}

function textOf(value: RespValue): string | null {
  return value.code === '$' || value.code === '+' ? value.text : null;
}
