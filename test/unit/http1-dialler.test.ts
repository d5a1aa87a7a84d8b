import { type AddressInfo, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import type { FindAddresses } from '../../src/http1/client/client-socket.ts';
import { createDialler, type Dialler } from '../../src/http1/client/dialler.ts';
import { countOpenDescriptors } from '../../src/runtime/descriptors.ts';
import { eventually } from '../support/eventually.ts';
import { deafen } from '../support/servers/deaf-addresses.ts';

/** A server on that loopback address, and how many connections it has accepted. */
async function listen(t: Test, host: string, port = 0) {
  const accepted: Socket[] = [];
  const server = createServer((socket) => accepted.push(socket.on('error', () => {})));
  await new Promise<void>((resolve) => {
    server.listen(port, host, resolve);
  });
  t.teardown(() => {
    for (const socket of accepted) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, accepted };
}

const at =
  (...addresses: string[]): FindAddresses =>
  (_host, done) => {
    done(null, addresses);
    return () => {};
  };

function diallerTo(port: number, findAddresses: FindAddresses, connectTimeoutMs = 2_000): Dialler {
  return createDialler({ address: { host: 'app', port }, tls: null, findAddresses, connectTimeoutMs });
}

/** Opens one connection and gives the address it has reached, or the code of the error. */
function dial(t: Test, dialler: Dialler): Promise<string | undefined> {
  return new Promise((resolve) => {
    dialler.dial({
      readsStream: true,
      onConnected(socket) {
        t.teardown(() => socket.destroy());
        resolve(socket.remoteAddress);
      },
      onUnreached: (error: NodeJS.ErrnoException) => resolve(error.code),
    });
  });
}

t.test(
  'a live address behind twelve dead ones is found, and the next connection begins with it',
  async (t) => {
    const live = await listen(t, '127.0.9.13');
    const dead = Array.from({ length: 12 }, (_, i) => `127.0.9.${i + 1}`);
    await deafen(t, live.port, dead);
    let found: readonly string[] = [...dead, '127.0.9.13'];
    const dialler = diallerTo(live.port, (_host, done) => {
      done(null, found);
      return () => {};
    });
    t.equal(await dial(t, dialler), '127.0.9.13');
    // A second live one before it, which is as good as never tried.
    const other = await listen(t, '127.0.9.14', live.port);
    found = [...dead, '127.0.9.14', '127.0.9.13'];
    const reached = [await dial(t, dialler), await dial(t, dialler)];
    t.strictSame(reached.toSorted(), ['127.0.9.13', '127.0.9.14'], 'those that connect take turns');
    await eventually('all are accepted', () => live.accepted.length + other.accepted.length === 3);
  },
);

t.test('an attempt goes on while others are made', async (t) => {
  const { port } = await listen(t, '127.0.9.20');
  const slow = await deafen(t, port, ['127.0.9.21']);
  await deafen(t, port, ['127.0.9.22']);
  const reached = dial(t, diallerTo(port, at('127.0.9.21', '127.0.9.22'), 100));
  // By now the second attempt has been begun; the first one's next packet gets through.
  setTimeout(slow.wake, 200);
  t.equal(await reached, '127.0.9.21');
});

t.test('the next address is tried at once where one refuses', async (t) => {
  const { port } = await listen(t, '127.0.9.25');
  const hour = 3_600_000;
  t.equal(await dial(t, diallerTo(port, at('127.0.9.26', '127.0.9.27', '127.0.9.25'), hour)), '127.0.9.25');
});

t.test('a refusal says more than an address that can’t be reached', async (t) => {
  const { port } = await listen(t, '127.0.9.30');
  t.equal(await dial(t, diallerTo(port, at('127.0.9.31', 'ff0e::1'))), 'ECONNREFUSED');
});

t.test('a name without addresses', async (t) => {
  const error = Object.assign(new Error(), { code: 'ENOTFOUND' });
  const nowhere: FindAddresses = (_host, done) => {
    done(error, []);
    return () => {};
  };
  t.equal(await dial(t, diallerTo(1, nowhere)), 'ENOTFOUND');
});

t.test('while the name is looked up, that is the delay', async (t) => {
  let isWithdrawn = false;
  const silent: FindAddresses = () => () => {
    isWithdrawn = true;
  };
  const unexpected = () => t.fail('it calls back');
  const dialling = diallerTo(1, silent).dial({
    readsStream: true,
    onConnected: unexpected,
    onUnreached: unexpected,
  });
  t.match(dialling.delay, { code: 'EAI_AGAIN' });
  dialling.destroy();
  t.ok(isWithdrawn);
});

t.test(
  'a connection that has connected is not delayed by its name, and one that is given up closes',
  async (t) => {
    const { port, accepted } = await listen(t, '127.0.9.40');
    await deafen(t, port, ['127.0.9.41']);
    const unexpected = () => t.fail('it calls back');
    const handler = { readsStream: true, onConnected: unexpected, onUnreached: unexpected };
    const dialling = diallerTo(port, at('127.0.9.41', '127.0.9.40')).dial(handler);
    t.equal(dialling.delay, undefined);
    dialling.destroy();
    t.equal(await dial(t, diallerTo(port, at('127.0.9.40'))), '127.0.9.40');
    t.equal(accepted.length, 1);
  },
);

t.test('parallel attempts share a number of sockets', async (t) => {
  const live = await listen(t, '127.0.9.57');
  const dead = Array.from({ length: 6 }, (_, i) => `127.0.9.${i + 51}`);
  await deafen(t, live.port, dead);
  const spare = 2;
  let left = spare;
  const spareSockets = {
    take: () => left > 0 && left-- > 0,
    giveBack: () => void left++,
  };
  const target = {
    address: { host: 'app', port: live.port },
    tls: null,
    connectTimeoutMs: 1_000,
    spareSockets,
  };
  const findAddresses = at(...dead, '127.0.9.57');
  const before = countOpenDescriptors();
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, countOpenDescriptors() - before);
  }, 5);
  // One each, so that none knows from another which address is live.
  const diallers = Array.from({ length: 4 }, () => createDialler({ ...target, findAddresses }));
  const reached = await Promise.all(diallers.map((dialler) => dial(t, dialler)));
  clearInterval(timer);
  t.strictSame(
    reached,
    diallers.map(() => '127.0.9.57'),
  );
  t.ok(most > diallers.length, 'some are tried side by side');
  const accepted = diallers.length;
  t.ok(most <= diallers.length + spare + accepted, `${most} sockets at most`);
  t.equal(left, spare, 'all are given back');

  const dialling = createDialler({ ...target, findAddresses }).dial({
    readsStream: true,
    onConnected() {},
    onUnreached() {},
  });
  await eventually('the spare ones are taken', () => left === 0);
  dialling.destroy();
  t.equal(left, spare, 'one that is given up gives them back');
});
