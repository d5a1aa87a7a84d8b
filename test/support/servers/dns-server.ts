import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, isIPv4, type Server } from 'node:net';
import type { TestScope } from '../gateway/gateway.ts';

/**
 * What a name server says of a name: its addresses (none: it has no address in that family), those of another name that it
 * stands for, or what goes wrong. The late ones, of 200 and 1,200 ms, and those without IPv6 have 127.0.0.1.
 */
export type DnsRecord =
  | readonly string[]
  | {
      readonly of: readonly string[];
      readonly alias?: string;
      /** What the response becomes on its way. */
      readonly damaged?: (response: Buffer) => Buffer;
    }
  | 'silent'
  | 'fails'
  | 'refused'
  | 'malformed'
  | 'late'
  | 'very late'
  | 'ipv6 is silent';

/** A name server for one test; what it says may be changed while it runs. Every other name doesn't exist. */
export interface DnsServer {
  /** As `dns.setServers` takes it. */
  readonly address: string;
  readonly records: Map<string, DnsRecord>;
  /** The names it was asked for in the IPv4 family, in order. */
  readonly asked: string[];
  /** Those of them that it was asked for by TCP. */
  readonly byTcp: string[];
}

const type = { a: 1, cname: 5, aaaa: 28 };
const rcode = { ok: 0, serverFailure: 2, noSuchName: 3, refused: 5 };
const maxUdpBytes = 512;
/** Kept by a resolver that keeps responses for as long as it may, s. */
const timeToLive = 3_600;

/** Starts one; `port` 0: a free one. */
export async function startDnsServer(
  t: TestScope,
  records: Readonly<Record<string, DnsRecord>>,
  port = 0,
  ip = '127.0.0.1',
): Promise<DnsServer> {
  const server = { records: new Map(Object.entries(records)), asked: [] as string[], byTcp: [] as string[] };
  const timers = new Set<NodeJS.Timeout>();
  const tcp = createServer((client) => {
    client.on('error', () => {});
    let bytes = Buffer.alloc(0);
    client.on('data', (more) => {
      bytes = Buffer.concat([bytes, more]);
      // The C library sends the questions for both families at once.
      for (let end = messageEnd(bytes); bytes.length >= end; end = messageEnd(bytes)) {
        const query = bytes.subarray(2, end);
        bytes = bytes.subarray(end);
        const question = readQuestion(query);
        if (question.type === type.a) server.byTcp.push(question.name);
        const response = respond(query, question, server.records.get(question.name))!;
        const length = Buffer.alloc(2);
        length.writeUInt16BE(response.length);
        client.write(Buffer.concat([length, response]));
      }
    });
  });
  const socket = await bindBoth(tcp, port, ip);
  socket.on('message', (query, from) => {
    const question = readQuestion(query);
    const record = server.records.get(question.name);
    if (question.type === type.a) server.asked.push(question.name);
    const response = respond(query, question, record);
    if (response === null) return;
    const send = () => socket.send(truncated(response, question), from.port, from.address, () => {});
    const delayMs = record === 'late' ? 200 : record === 'very late' ? 1_200 : 0;
    if (delayMs === 0) send();
    else timers.add(setTimeout(send, delayMs));
  });
  t.teardown(() => {
    for (const timer of timers) clearTimeout(timer);
    tcp.close();
    socket.close();
  });
  return { ...server, address: `${ip}:${socket.address().port}` };
}

/** A port that is free for TCP may be taken for UDP. */
async function bindBoth(tcp: Server, port: number, ip: string): Promise<Socket> {
  for (let i = 0; ; i++) {
    tcp.listen(port, ip);
    await once(tcp, 'listening');
    const socket = createSocket('udp4');
    socket.bind((tcp.address() as AddressInfo).port, ip);
    try {
      await once(socket, 'listening');
      return socket;
    } catch (error) {
      socket.close();
      tcp.close();
      await once(tcp, 'close');
      if (i === 9 || port !== 0) throw error;
    }
  }
}

/** Where the first of these messages ends, each of which its length precedes (RFC 1035 §4.2.2). */
function messageEnd(bytes: Buffer): number {
  return bytes.length < 2 ? Number.POSITIVE_INFINITY : 2 + bytes.readUInt16BE(0);
}

/** What fits into a datagram (RFC 1035 §4.2.1). */
function truncated(response: Buffer, { end }: Question): Buffer {
  if (response.length <= maxUdpBytes || response.length < end) return response;
  const head = Buffer.from(response.subarray(0, end));
  head.writeUInt16BE(head.readUInt16BE(2) | 0x0200, 2);
  head.writeUInt16BE(0, 6);
  return head;
}

interface Question {
  readonly name: string;
  readonly type: number;
  /** Where it ends in the message. */
  readonly end: number;
}

/** RFC 1035 §4.1.2. */
function readQuestion(query: Buffer): Question {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function respond(query: Buffer, question: Question, record: DnsRecord | undefined): Buffer | null {
  if (record === 'silent' || (record === 'ipv6 is silent' && question.type === type.aaaa)) return null;
  if (record === undefined) return messageOf(query, question, rcode.noSuchName, []);
  if (record === 'fails') return messageOf(query, question, rcode.serverFailure, []);
  if (record === 'refused') return messageOf(query, question, rcode.refused, []);
  const listed = typeof record === 'string' ? ['127.0.0.1'] : 'of' in record ? record.of : record;
  const addresses = listed.filter((address) => (question.type === type.a) === isIPv4(address));
  const { alias, damaged } = typeof record === 'object' && 'of' in record ? record : {};
  const response = messageOf(query, question, rcode.ok, addresses, alias);
  if (record === 'malformed') return response.subarray(0, 20);
  return damaged === undefined ? response : damaged(response);
}

/** RFC 1035 §4.1.1 and §4.1.3: the question, and a record for each address of its name, or of what that stands for. */
function messageOf(
  query: Buffer,
  question: Question,
  code: number,
  addresses: readonly string[],
  alias?: string,
): Buffer {
  const head = Buffer.from(query.subarray(0, question.end));
  const owner = alias === undefined ? Buffer.from([0xc0, 12]) : bytesOfName(alias);
  const answers = addresses.map((address) =>
    recordOf(
      owner,
      question.type,
      isIPv4(address) ? Buffer.from(address.split('.').map(Number)) : bytesOfIPv6(address),
    ),
  );
  if (alias !== undefined) answers.unshift(recordOf(Buffer.from([0xc0, 12]), type.cname, owner));
  head.writeUInt16BE(0x8180 | code, 2);
  head.writeUInt16BE(answers.length, 6);
  head.writeUInt16BE(0, 8);
  head.writeUInt16BE(0, 10);
  return Buffer.concat([head, ...answers]);
}

function recordOf(owner: Buffer, recordType: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(recordType, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt32BE(timeToLive, 4);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([owner, fixed, data]);
}

function bytesOfName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

function bytesOfIPv6(address: string): Buffer {
  const [before = '', after = ''] = address.split('::');
  const groups = (text: string) => text.split(':').filter(Boolean);
  const zeros = Array(8 - groups(before).length - groups(after).length).fill('0');
  const all = [...groups(before), ...zeros, ...groups(after)];
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
}
