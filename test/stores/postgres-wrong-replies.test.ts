import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { ChangeListener } from '../../src/stores/postgres/listen.ts';
import { createPostgresClient, createPostgresRecords } from '../../src/stores/postgres/records.ts';
import { newUser } from '../contract/fixtures.ts';
import { recordsLimits } from '../contract/postgres-stores.ts';
import { createUser, listUsers } from '../support/administration/record-changes.ts';
import { startRelayListener } from '../support/servers/relay-listener.ts';
import { postgresAddress } from '../support/stores/store-addresses.ts';

t.setTimeout(600_000);

/** A message of the protocol: its code, its length and its body. */
function message(code: string, ...parts: readonly (string | number | Buffer)[]): Buffer {
  const bodies = parts.map((part) => {
    if (typeof part === 'string') return Buffer.from(`${part}\0`);
    if (typeof part !== 'number') return part;
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(part);
    return bytes;
  });
  const body = Buffer.concat(bodies);
  const head = Buffer.alloc(5);
  head.write(code, 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const short = (...numbers: number[]) => Buffer.from(numbers.flatMap((n) => [(n >> 8) & 255, n & 255]));
const ready = message('Z', Buffer.from('I'));
const welcome = Buffer.concat([message('R', 0), message('K', 1, 2), ready]);
const column = (type: number) => [short(1), 'x', 0, short(0), type, short(4), -1, short(0)];
const row = (text: string) => message('D', short(1), text.length, Buffer.from(text));
const whole = (...parts: Buffer[]) => Buffer.concat([...parts, message('C', 'SELECT 1'), ready]);

/** The wrong replies of a server. */
const wrongResponses: Readonly<Record<string, Buffer>> = {
  nothing: whole(),
  'a row without a description': whole(row('1')),
  'a row of another shape': whole(message('T', ...column(25)), row('1')),
  'a row with a column too few': whole(message('T', ...column(25)), message('D', short(0))),
  'a row with columns too many': whole(message('T', ...column(25)), message('D', short(3), -1, -1, -1)),
  'a row shorter than its length': whole(message('T', ...column(25)), message('D', short(9), 400)),
  'a description shorter than its length': whole(message('T', short(900))),
  'an invalid JSON list': whole(message('T', ...column(114)), row('{')),
  'an error': Buffer.concat([message('E', Buffer.from('SERROR\0CXX000\0Mno\0\0')), ready]),
  'an empty error': Buffer.concat([message('E'), ready]),
  'an unterminated error': Buffer.concat([message('E', Buffer.from('SERROR')), ready]),
  'an unknown code': message('!', 'x'),
  'a request for a password': message('R', 5, 0),
  'an authentication request of an unknown kind': message('R', 99),
  'a request for SASL': message('R', 10, Buffer.from('NONE\0\0')),
  'a second SASL': message('R', 11, Buffer.from('r=x')),
  'the end of SASL': message('R', 12, Buffer.from('v=x')),
  'a start of copy in': message('G', Buffer.from([0]), short(0)),
  'a start of copy out': message('H', Buffer.from([0]), short(9)),
  'a start of copy both': message('W', Buffer.from([0]), short(0)),
  'copy data': message('d', 'x'),
  'an empty notification': whole(message('A')),
  'a truncated notification': whole(message('A', 1, Buffer.from('x'))),
  'an invalid end of a command': Buffer.concat([message('C'), ready]),
  'ready for query, twice': Buffer.concat([ready, ready, ready]),
  'ready for query, without a state': message('Z'),
  'empty parameters': whole(message('S')),
  'empty key data': whole(message('K')),
  'an empty notice': whole(message('N')),
  'a length of zero': Buffer.from('D\0\0\0\0', 'latin1'),
  'an unbounded length': Buffer.from([0x44, 0x7f, 0xff, 0xff, 0xff, 1, 2, 3]),
  'a negative length': Buffer.from([0x44, 0xff, 0xff, 0xff, 0xff, 1, 2, 3]),
  'a web page': Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'),
  'meaningless bytes': Buffer.from([0, 255, 1, 254, 2, 253, 3, 252]),
};

for (const when of ['to the first message', 'to each query'])
  t.test(`no reply ${when} ends the process`, async (t) => {
    let wrong = Buffer.alloc(0);
    const server = await startRelayListener(t, (client) => {
      let isStarted = false;
      client.on('error', () => {});
      client.on('data', () => {
        if (!isStarted && when === 'to each query') client.write(welcome);
        else client.write(wrong);
        isStarted = true;
      });
      return { cut: () => client.destroy() };
    });
    const access = { address: postgresAddress(`postgres://user:password@127.0.0.1:${server.port}/db`) };
    for (const [name, bytes] of Object.entries(wrongResponses)) {
      wrong = Buffer.from(bytes);
      const records = createPostgresRecords({ access, now: Date.now, ...recordsLimits, timeoutMs: 300 });
      const feed = new ChangeListener({
        open: () => createPostgresClient(access, 300),
        channel: 'postern:test',
        from: { version: 0, mark: 'mark' },
      });
      const calls = {
        ping: records.ping(),
        findApiKey: records.findApiKey('k'),
        readPosition: records.readPosition(),
        createUser: createUser(records, newUser('a'), 'a'),
        listUsers: listUsers(records),
      };
      const outcomes = Object.entries(calls).map(async ([call, response]) => {
        const outcome = await Promise.resolve(response).then(
          () => 'a result',
          (error) => error.code ?? error.message,
        );
        // Any row may be a user of that name, and no rows mean no such key: both are results.
        t.ok(
          ['store_unavailable', 'conflict', 'a result'].includes(outcome),
          `${name} to ${call}: ${outcome}`,
        );
      });
      await Promise.all(outcomes);
      await t.rejects(records.ping(), { code: 'store_unavailable' }, name);
      t.equal(feed.notifiedUntil, 0, 'nothing was notified');
      await Promise.all([feed.close(), records.close()]);
      await sleep(0);
    }
  });
