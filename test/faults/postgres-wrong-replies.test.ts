import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { listenForChanges } from '../../src/stores/postgres/listen.ts';
import { createPostgresClient, createPostgresRecords } from '../../src/stores/postgres/records.ts';
import { newUser } from '../contract/fixtures.ts';
import { recordsLimits } from '../contract/postgres-stores.ts';
import { startRelayListener } from '../support/relay-listener.ts';
import { postgresAddress } from '../support/store-addresses.ts';

t.setTimeout(120_000);

/** A message of the protocol: its code, its length and what follows. */
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

/** What a server may say in place of a response. */
const wrongResponses: Readonly<Record<string, Buffer>> = {
  nothing: whole(),
  'a row without a description': whole(row('1')),
  'a row of another shape': whole(message('T', ...column(25)), row('1')),
  'a row with a column less': whole(message('T', ...column(25)), message('D', short(0))),
  'a row with columns more': whole(message('T', ...column(25)), message('D', short(3), -1, -1, -1)),
  'a row that is shorter than it says': whole(message('T', ...column(25)), message('D', short(9), 400)),
  'a description that is shorter than it says': whole(message('T', short(900))),
  'a list of JSON that is none': whole(message('T', ...column(114)), row('{')),
  'an error': Buffer.concat([message('E', Buffer.from('SERROR\0CXX000\0Mno\0\0')), ready]),
  'an error of nothing': Buffer.concat([message('E'), ready]),
  'an error without an end': Buffer.concat([message('E', Buffer.from('SERROR')), ready]),
  'a code that is none': message('!', 'x'),
  'a request for a password': message('R', 5, 0),
  'a request of an unknown kind': message('R', 99),
  'a request for SASL': message('R', 10, Buffer.from('NONE\0\0')),
  'a second SASL': message('R', 11, Buffer.from('r=x')),
  'an end of SASL': message('R', 12, Buffer.from('v=x')),
  'to copy in': message('G', Buffer.from([0]), short(0)),
  'to copy out': message('H', Buffer.from([0]), short(9)),
  'both ways': message('W', Buffer.from([0]), short(0)),
  'data of a copy': message('d', 'x'),
  'a notification of nothing': whole(message('A')),
  'a notification cut short': whole(message('A', 1, Buffer.from('x'))),
  'an end of a command that is none': Buffer.concat([message('C'), ready]),
  'that it is ready, twice': Buffer.concat([ready, ready, ready]),
  'that it is ready, in no state': message('Z'),
  'parameters of nothing': whole(message('S')),
  'a key of nothing': whole(message('K')),
  'a notice of nothing': whole(message('N')),
  'a length of nothing': Buffer.from('D\0\0\0\0', 'latin1'),
  'a length without end': Buffer.from([0x44, 0x7f, 0xff, 0xff, 0xff, 1, 2, 3]),
  'a length below nothing': Buffer.from([0x44, 0xff, 0xff, 0xff, 0xff, 1, 2, 3]),
  'a web page': Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'),
  'bytes without a meaning': Buffer.from([0, 255, 1, 254, 2, 253, 3, 252]),
};

for (const when of ['to the first message', 'to each question'])
  t.test(`whatever is answered ${when}, the process goes on`, async (t) => {
    let wrong = Buffer.alloc(0);
    const server = await startRelayListener(t, (client) => {
      let isStarted = false;
      client.on('error', () => {});
      client.on('data', () => {
        if (!isStarted && when === 'to each question') client.write(welcome);
        else client.write(wrong);
        isStarted = true;
      });
      return { cut: () => client.destroy() };
    });
    const access = { address: postgresAddress(`postgres://user:password@127.0.0.1:${server.port}/db`) };
    for (const [name, bytes] of Object.entries(wrongResponses)) {
      wrong = Buffer.from(bytes);
      const records = createPostgresRecords({ access, now: Date.now, ...recordsLimits, timeoutMs: 300 });
      const feed = listenForChanges({
        open: () => createPostgresClient(access, 300),
        channel: 'postern:test',
        from: { version: 0, mark: 'mark' },
      });
      const asked = {
        ping: records.ping(),
        findApiKey: records.findApiKey('k'),
        readPosition: records.readPosition(),
        createUser: records.createUser(newUser('a'), 'a'),
        listUsers: records.listUsers(),
      };
      const came = Object.entries(asked).map(async ([call, response]) => {
        const what = await Promise.resolve(response).then(
          () => 'a response',
          (error) => error.code ?? error.message,
        );
        // Any row may be a user of that name, and without rows there is no such key: responses, both.
        t.ok(['store_unavailable', 'conflict', 'a response'].includes(what), `${name} to ${call}: ${what}`);
      });
      await Promise.all(came);
      await t.rejects(records.ping(), { code: 'store_unavailable' }, name);
      t.equal(feed.notifiedUntil, 0, 'nothing was heard');
      await Promise.all([feed.close(), records.close()]);
      await sleep(0);
    }
  });
