import { type RespValue, readResp, UnexpectedReply } from './resp.ts';

/** Watches one connection to a Redis, so that the driver is given only what it can take. */
export interface ReplyCheck {
  /** Takes note of commands that are sent. */
  sent(bytes: Buffer): void;
  /** As much of what came as is whole and makes sense. Throws {@link UnexpectedReply}. */
  received(bytes: Buffer): Buffer;
}

type Judge = (reply: RespValue) => boolean;

const slots = 16_384;
/** The driver follows these without a look at how they are written. */
const redirection = /^(?:MOVED|ASK) /;
const goodRedirection = /^(?:MOVED|ASK) (\d{1,5}) \S*:\d{1,5}$/;

/** What the driver reads by itself. Anything else it hands on as it is, to be judged by whoever asked. */
const judges: Readonly<Record<string, Judge>> = {
  subscribe: (reply) => isNotification(reply, 'subscribe') && itemsOf(reply)[2]?.code === ':',
  info: (reply) => textOf(reply) !== null,
  'cluster slots': (reply) => itemsOf(reply).length > 0 && itemsOf(reply).every(isSlotRange),
  'sentinel get-master-addr-by-name': (reply) =>
    reply.code === '*' && (reply.items === null || isLocation(reply)),
  'sentinel sentinels': (reply) => reply.code === '*' && itemsOf(reply).every(isListOfTexts),
};

/**
 * Creates it, for RESP2. A response to a command that the driver reads itself has the right shape or is an error, nothing
 * comes that was not asked for, and nothing is of another protocol, too large or nested too deep: over such things the
 * driver throws where nobody can catch it, or never stops.
 */
export function createReplyCheck(): ReplyCheck {
  const asked: string[] = [];
  const outgoing = createSplitter((command) => asked.push(nameOf(command)));
  const incoming = createSplitter(judge);
  let isSubscriber = false;

  function judge(reply: RespValue): void {
    if (isSubscriber && isNotification(reply, 'message') && isListOfTexts(reply)) return;
    const name = asked.shift();
    if (name === undefined) throw new UnexpectedReply('nobody asked for it');
    if (reply.code === '-') {
      requireRedirection(reply.text ?? '');
      return;
    }
    const isRight = judges[name]?.(reply) ?? (!isSubscriber || isNotification(reply, 'pong'));
    if (!isRight) throw new UnexpectedReply(`to ${name.toUpperCase()}`);
    isSubscriber ||= name === 'subscribe';
  }

  return { sent: (bytes) => void outgoing(bytes), received: incoming };
}

/** Tells of every value that is whole, and gives its bytes. */
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

/** In lower case, with the second word where the first says too little. */
function nameOf(command: RespValue): string {
  const [name = '', second = ''] = itemsOf(command).map((item) => textOf(item)?.toLowerCase() ?? '');
  return name === 'cluster' || name === 'sentinel' ? `${name} ${second}` : name;
}

function requireRedirection(text: string): void {
  if (!redirection.test(text)) return;
  const slot = goodRedirection.exec(text)?.[1];
  if (slot === undefined || Number(slot) >= slots) throw new UnexpectedReply('a redirection to nowhere');
}

function isNotification(reply: RespValue, kind: string): boolean {
  const items = itemsOf(reply);
  return items.length >= 2 && textOf(items[0]!) === kind && textOf(items[1]!) !== null;
}

function isListOfTexts(reply: RespValue): boolean {
  return itemsOf(reply).every((item) => textOf(item) !== null);
}

function isSlotRange(range: RespValue): boolean {
  const [from, to, ...nodes] = itemsOf(range);
  const isRange = from?.code === ':' && to?.code === ':' && 0 <= from.number && from.number <= to.number;
  return isRange && to.number < slots && nodes.length > 0 && nodes.every(isNode);
}

function isNode(node: RespValue): boolean {
  const [host, port] = itemsOf(node);
  // Without a host, which a node may not know, the driver passes it over.
  if (host === undefined || (host.code !== '$' && host.code !== '+')) return false;
  return port?.code === ':' && 0 < port.number && port.number < 65_536;
}

/** The driver leaves a socket behind for every port that is none. */
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
